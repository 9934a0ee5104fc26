/** A fresh, migrated database for one test, dropped when the test is over. */
import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { type Database, openDatabase, type Queryable } from '../../src/database/database.ts'
import { quietLogger } from './logger.ts'
import { joinTestServer, leaveTestServer } from './postgres.ts'
import { ensureTemplate } from './template.ts'

export interface TestDatabase {
  readonly url: string
  readonly database: Database
}

type Owner = Pick<Test, 'teardown'>

/** Under tap the server outlives a file; a file run by plain node cleans up after itself. */
const isUnderTap = process.env.TAP_CHILD_ID !== undefined

export async function testDatabase(t: Owner): Promise<TestDatabase> {
  const server = await joinTestServer()
  const template = await ensureTemplate(server)
  const name = `chapar_test_${process.pid}_${randomBytes(4).toString('hex')}`
  await server.client.query(`create database ${name} template ${template} strategy file_copy`)
  const url = server.url(name)
  const database = openDatabase({ url, logger: quietLogger })
  t.teardown(async () => {
    await database.close()
    await server.client.query(`drop database ${name} with (force)`)
    await server.client.end()
    if (!isUnderTap) await leaveTestServer()
  })
  return { url, database }
}

/** Does `work` while another transaction keeps the rows of `lock` locked, however long it takes on a busy machine. */
export function whileLocked<Result>(
  db: Database,
  lock: (tx: Queryable) => Promise<unknown>,
  work: () => Promise<Result>,
): Promise<Result> {
  return db.transaction(async (tx) => {
    await lock(tx)
    const working = work()
    let isOver = false
    const end = () => {
      isOver = true
    }
    working.then(end, end)
    // PostgreSQL ends a transaction that is idle for some seconds.
    while (!isOver) await tx.query('select pg_sleep(0.1)')
    return working
  })
}
