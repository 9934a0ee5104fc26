/** The supervised server: it comes back by itself, where it was, with everything committed. */
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../../src/database/database.ts'
import { eventually, isAlive } from '../../../src/database/embedded/processes.ts'
import { keepRunning } from '../../../src/database/embedded/supervisor.ts'
import { isUnavailable } from '../../../src/database/failures.ts'
import { embeddedFolder } from '../../support/embedded.ts'
import { quietLogger as logger } from '../../support/logger.ts'

const dir = embeddedFolder(t)

t.test(
  'a killed server is started again under the same address and has lost nothing',
  async (t) => {
    const server = await keepRunning({ dir, logger })
    t.teardown(server.stop)
    const database = openDatabase({ url: server.url(), logger })
    t.teardown(database.close)
    await database.query('create table entry (n int primary key)')

    for (let n = 1; n <= 3; n++) {
      await database.query('insert into entry values ($1)', [n])
      const killed = server.pid() as number
      process.kill(killed, 'SIGKILL')
      const outages: unknown[] = []
      const rows = await eventually(20_000, async () => {
        if ([killed, undefined].includes(server.pid())) return undefined
        try {
          return await database.query<{ n: number }>('select n from entry order by n')
        } catch (error) {
          outages.push(error)
          return undefined
        }
      })
      t.same(rows?.at(-1), { n })
      t.equal(rows?.length, n)
      t.ok(outages.every(isUnavailable), `only outages were seen: ${outages.join('; ')}`)
    }
  },
)

t.test('stopped in the middle of an outage, it leaves no process behind', async (t) => {
  const server = await keepRunning({ dir, logger })
  const url = server.url()
  process.kill(server.pid() as number, 'SIGKILL')
  await eventually(5_000, async () => (server.pid() === undefined ? true : undefined))
  await server.stop()
  const last = server.pid()
  t.ok(last === undefined || !(await isAlive(last)))
  const database = openDatabase({ url, logger })
  t.teardown(database.close)
  await t.rejects(database.query('select 1'))
})

t.test('a folder that cannot be had is told by its variable', async (t) => {
  const file = join(t.testdir({ file: '' }), 'file')
  await t.rejects(keepRunning({ dir: join(file, 'postgres'), logger }), {
    name: 'StartFailure',
    message: /^DATA_DIR: .*file/,
  })
})
