/** A command for an emergency: voids every access token. Nobody has to sign in again, since refresh tokens stay. */
import { join } from 'node:path'
import { dropSigningKeys } from './accounts/signing-keys.ts'
import { readConfig } from './config.ts'
import { openDatabase } from './database/database.ts'
import { keepRunning } from './database/embedded/supervisor.ts'
import { createLog } from './observability/log.ts'

const { databaseUrl, dataDir, logLevel } = readConfig()
const log = createLog({ level: logLevel })

await using opened = new AsyncDisposableStack()
let url = databaseUrl
if (url === undefined) {
  const postgres = await keepRunning({ dir: join(dataDir, 'postgres'), log })
  opened.defer(() => postgres.stop())
  url = postgres.url()
}
const db = openDatabase({ url, log })
opened.defer(() => db.close())
const dropped = await dropSigningKeys(db)
process.stdout.write(
  `${dropped} signing keys dropped; the service makes a new one when it needs it.\n`,
)
