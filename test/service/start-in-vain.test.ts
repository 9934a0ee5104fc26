/** A service that cannot start: it says which variable to look at, and takes nothing from one that runs. */
import t from 'tap'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { startGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { concerning } from '../../src/process/fatal-errors.ts'
import { quietLogger } from '../support/logger.ts'
import { scene } from './scene.ts'

const logger = createLogger({ level: 'silent' })
const print = () => undefined

t.test('a second start on the same port takes no account from the service that runs', async (t) => {
  const { service, client, ada, key } = await scene(t)
  const { databaseUrl, dataDir } = service
  const { port } = new URL(service.url)
  const database = openDatabase({ url: databaseUrl, logger: quietLogger })
  t.teardown(() => database.close())
  const epochs = () => database.query('select credential_id, epoch from credential_log')
  const before = await epochs()
  const start = (env: Record<string, string>) => {
    const config = readConfig({ HOST: '127.0.0.1', DATA_DIR: dataDir, ...env })
    return startGateway({ config, databaseUrl, logger, print })
  }
  const refusal = (variable: string) => ({
    name: 'StartFailure',
    message: new RegExp(`^${variable}, HOST: .*EADDRINUSE`),
  })

  await t.rejects(start({ PORT: port }), refusal('PORT'))
  await t.rejects(start({ PORT: '0', METRICS_PORT: port }), refusal('METRICS_PORT'))
  t.strictSame(await epochs(), before, 'the accounts are still those of the first')
  await client.write(ada.id, '@gatebot', 'still there?')
  const { body } = await client.bot(key, 'getUpdates', { timeout: 20 })
  t.match(body.result, [{ message: { text: 'still there?' } }])
})

t.test('a failure tells its variable, and why, for each address that was tried', async (t) => {
  const refused = ['::1', '127.0.0.1'].map((address) => new Error(`refused by ${address}`))
  await t.rejects(concerning('REDIS_URL', Promise.reject(new AggregateError(refused))), {
    message: 'REDIS_URL: refused by ::1; refused by 127.0.0.1',
  })
  t.equal(await concerning('REDIS_URL', Promise.resolve(1)), 1)
})
