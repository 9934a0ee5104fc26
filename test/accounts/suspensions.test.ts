/** How a node learns who is suspended: by hints of others, and how often it asks. */
import t from 'tap'
import { Suspensions } from '../../src/accounts/suspensions.ts'
import type { Database } from '../../src/database/database.ts'
import type { Bus } from '../../src/nodes/bus.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'

t.test(
  'hints that come while the database hangs share one look, which begins after them',
  async (t) => {
    const asked: ((rows: readonly object[]) => void)[] = []
    const query = () => new Promise((resolve) => asked.push(resolve))
    const hints: (() => void)[] = []
    const bus = {
      tell: () => undefined,
      on: (_: string, hint: () => void) => hints.push(hint),
      onGap() {},
    }
    const suspensions = new Suspensions({
      db: { query } as unknown as Database,
      clock: () => new Date(),
      logger: createLogger({ level: 'silent' }),
      bus: bus as unknown as Pick<Bus, 'tell' | 'on' | 'onGap'>,
    })
    const hint = async () => {
      hints[0]?.()
      await new Promise(setImmediate)
    }
    for (let n = 0; n < 100; n++) await hint()
    t.equal(asked.length, 1, 'the others wait')
    asked[0]?.([])
    await new Promise(setImmediate)
    t.equal(asked.length, 2, 'one for all of them')
    await hint()
    asked[1]?.([{ id: 7, reason: 'a' }])
    await new Promise(setImmediate)
    t.equal(suspensions.whyOf(7), 'a')
    t.equal(asked.length, 3, 'a hint during a look gets a later one')
    asked[2]?.([])
    await suspensions.stop()
    t.equal(suspensions.whyOf(7), undefined)
    t.equal(asked.length, 3)
  },
)

t.test('a node learns of it by a hint, without its own regular looks', async (t) => {
  const { database: db } = await testDatabase(t)
  const [row] = await db.query<{ id: number }>(
    "insert into app_user (phone_index, phone_sealed) values ('\\x01', '\\x02') returning id",
  )
  const user = row?.id ?? 0
  const hints: (() => void)[] = []
  const bus = {
    tell: (topic: string) => topic === 'suspended' && hints.map((hint) => hint()),
    on: (topic: string, hint: () => void) => topic === 'suspended' && hints.push(hint),
    onGap() {},
  } as unknown as Pick<Bus, 'tell' | 'on' | 'onGap'>
  const clock = () => new Date()
  const logger = createLogger({ level: 'silent' })
  // Neither is started, so neither looks by itself.
  const [one, two] = [1, 2].map(() => new Suspensions({ db, clock, logger, bus })) as [
    Suspensions,
    Suspensions,
  ]
  const told: [number, boolean][] = []
  two.onChange((userId, isSuspended) => told.push([userId, isSuspended]))
  await one.suspend(user, 'spam')
  await until(() => two.whyOf(user) === 'spam')
  t.equal(await one.end(user), true)
  await until(() => two.whyOf(user) === undefined)
  t.strictSame(told, [
    [user, true],
    [user, false],
  ])
})
