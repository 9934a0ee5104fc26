/** The fault test in its short form: three faults of the database and the service, eight that Toxiproxy makes, and those of Redis. */
import t from 'tap'
import { hasRedis } from '../support/redis.ts'
import { Toxiproxy } from '../support/toxiproxy.ts'
import { runFaults } from './chaos.ts'
import { outcomeLine, redisLine, totals } from './lines.ts'
import { runRedisFaults } from './redis-faults.ts'

const takesMs = 180_000
t.setTimeout(takesMs)

const toxiproxy = await Toxiproxy.start()
if (typeof toxiproxy !== 'string') t.teardown(() => toxiproxy.stop())
const skip = !(await hasRedis()) && 'redis-server is not installed'

t.test(
  'nothing acknowledged is lost by what happens around it',
  { timeout: takesMs },
  async (t) => {
    const only = /^(database stopped|update_log locked|service frozen)/
    const report = await runFaults({ perSecond: 50, seconds: 3, only }, (outcome) =>
      t.comment(outcomeLine(outcome)),
    )
    for (const line of totals(report, [])) t.comment(line)
    t.equal(report.outcomes.length, 3)
    t.equal(report.lost, 0)
    t.same(report.violations, [])
    t.equal(report.delivered, report.acknowledged)
    t.ok(report.acknowledged > 300, `${report.acknowledged} were acknowledged`)
  },
)

const spoils = 'nor by what spoils the ways to the database and the network'
const unspoiled = typeof toxiproxy === 'string' && toxiproxy

t.test(spoils, { skip: unspoiled, timeout: takesMs }, async (t) => {
  const toxics = { toxiproxy, seeds: [1, 2, 3, 4, 5, 6, 7, 8] }
  const plan = { perSecond: 50, seconds: 1.5, only: /^toxics/, toxics }
  const report = await runFaults(plan, (outcome) => t.comment(outcomeLine(outcome)))
  for (const line of totals(report, [])) t.comment(line)
  t.equal(report.outcomes.length, toxics.seeds.length)
  t.equal(report.lost, 0)
  t.same(report.violations, [])
  t.equal(report.delivered, report.acknowledged)
})

t.test(
  'no code is lost or late by what happens to Redis',
  { skip, timeout: takesMs },
  async (t) => {
    const outcomes = await runRedisFaults(1.5, (outcome) => t.comment(redisLine(outcome)))
    for (const { name, asked, lost, slowestMs } of outcomes) {
      t.ok(asked > 10, name)
      t.equal(lost, 0, name)
      t.ok(slowestMs < 1_000, `${name}: the slowest took ${Math.round(slowestMs)} ms`)
    }
  },
)
