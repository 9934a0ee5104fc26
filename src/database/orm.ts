/** MikroORM for records: what is read and written one row at a time. */
import { defineConfig, MikroORM } from '@mikro-orm/postgresql'
import { entities } from './entities/index.ts'

const driverOptions = {
  application_name: 'chapar records',
  connectionTimeoutMillis: 5_000,
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  idle_in_transaction_session_timeout: 3_000,
  query_timeout: 8_000,
  keepAlive: true,
}

/** Fork the entity manager for each request: the global one refuses to be used. */
export async function openOrm(url: string, maxConnections = 10): Promise<MikroORM> {
  const config = defineConfig({
    clientUrl: url,
    entities: [...entities],
    allowGlobalContext: false,
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: maxConnections, idleTimeoutMillis: 30_000 },
    driverOptions,
  })
  return await MikroORM.init(config)
}
