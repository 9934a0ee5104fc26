/** The kill test in its short form, and that it notices a service that acknowledges too early. */
import t from 'tap'
import { runChaos } from './chaos.ts'
import { summary } from './summary.ts'

const nothing = () => undefined

const takesMs = 110_000

t.setTimeout(takesMs)

t.test('nothing acknowledged is lost, doubled or out of order in kills', async (t) => {
  t.setTimeout(takesMs)
  const plan = { serviceKills: 7, postgresKills: 2, perSecond: 200 }
  const report = await runChaos(plan, nothing)
  for (const line of summary(report)) t.comment(line)
  t.equal(report.lost, 0)
  t.same(report.violations, [])
  t.equal(report.delivered, report.acknowledged)
  t.ok(report.acknowledged > 1_000, `${report.acknowledged} were acknowledged`)
})

t.test('an acknowledgement before the commit is found out', async (t) => {
  t.setTimeout(takesMs)
  const plan = { serviceKills: 2, postgresKills: 0, perSecond: 200, acknowledgesEarly: true }
  const report = await runChaos(plan, nothing)
  for (const line of summary(report)) t.comment(line)
  t.ok(report.lost > 0, `${report.lost} were lost`)
})
