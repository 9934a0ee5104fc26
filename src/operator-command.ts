/** What commands of the operator stand on: the configuration of the service and its database, which is started if need be. */
import { join } from 'node:path'
import { readConfig } from './config.ts'
import { openDatabase } from './database/database.ts'
import { keepRunning } from './database/embedded/supervisor.ts'
import { createLog } from './observability/log.ts'

export async function openForOperator(opened: AsyncDisposableStack) {
  const config = readConfig()
  const log = createLog({ level: config.logLevel })
  let url = config.databaseUrl
  if (url === undefined) {
    const postgres = await keepRunning({ dir: join(config.dataDir, 'postgres'), log })
    opened.defer(() => postgres.stop())
    url = postgres.url()
  }
  const db = openDatabase({ url, log })
  opened.defer(() => db.close())
  return { config, db, log }
}
