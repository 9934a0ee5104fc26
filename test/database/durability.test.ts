/** A database that was given: refused where it does not keep what it has committed. */
import t from 'tap'
import { assertDurable } from '../../src/database/durability.ts'
import { testDatabase } from '../support/database.ts'
import { FakeLogger } from '../support/fakes.ts'

const { url, database } = await testDatabase(t)
const [{ fsync } = { fsync: '' }] = await database.query<{ fsync: string }>('show fsync')
const isSafe = fsync === 'on'

t.test(
  'a server that may lose commits is told of while trying out, and refused in production',
  async (t) => {
    const logger = new FakeLogger()
    await assertDurable({ url, production: false, logger })
    t.equal(logger.warnings.length, isSafe ? 0 : 1)
    const inProduction = assertDurable({ url, production: true, logger })
    if (isSafe) await inProduction
    else await t.rejects(inProduction, { message: /fsync/ })
  },
)

t.test('one that acknowledges before it has written is refused always', async (t) => {
  const name = new URL(url).pathname.slice(1)
  await database.query(`alter database ${name} set synchronous_commit = off`)
  const logger = new FakeLogger()
  await t.rejects(assertDurable({ url, production: false, logger }), {
    message: /synchronous_commit/,
  })
  await database.query(`alter database ${name} set synchronous_commit = local`)
  await assertDurable({ url, production: false, logger })
})

t.test(
  'one that cannot be signed in to is told by its variable, without its password',
  async (t) => {
    const wrong = new URL(url)
    wrong.pathname = '/nowhere'
    const attempt = assertDurable({ url: wrong.href, production: false, logger: new FakeLogger() })
    await t.rejects(attempt, {
      name: 'StartFailure',
      message: 'DATABASE_URL: database "nowhere" does not exist',
    })
  },
)
