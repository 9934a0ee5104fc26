/** The kill test with bots behind webhooks: nothing lost, order in each chat, few repeated. */
import t from 'tap'
import { runChaos } from './chaos.ts'
import { summary } from './summary.ts'

const takesMs = 110_000
const ACCOUNTS = 3

t.setTimeout(takesMs)

t.test('webhooks get everything in order, and little twice', async (t) => {
  t.setTimeout(takesMs)
  const plan = { serviceKills: 5, postgresKills: 0, perSecond: 100, webhookConnections: 3 }
  const report = await runChaos(plan, () => undefined)
  for (const line of summary(report)) t.comment(line)
  t.equal(report.lost, 0)
  t.same(report.violations, [])
  t.equal(report.delivered, report.acknowledged)
  const bound = plan.serviceKills * plan.webhookConnections * ACCOUNTS
  t.ok(report.duplicates <= bound, `${report.duplicates} of at most ${bound} were repeated`)
  t.ok(report.acknowledged > 300, `${report.acknowledged} were acknowledged`)
})

t.test('a database that crashes loses nothing of them either', async (t) => {
  t.setTimeout(takesMs)
  const plan = { serviceKills: 0, postgresKills: 3, perSecond: 100, webhookConnections: 3 }
  const report = await runChaos(plan, () => undefined)
  for (const line of summary(report)) t.comment(line)
  t.equal(report.lost, 0)
  t.same(report.violations, [])
  t.equal(report.delivered, report.acknowledged)
  const bound = plan.postgresKills * plan.webhookConnections * ACCOUNTS
  t.ok(report.duplicates <= bound, `${report.duplicates} of at most ${bound} were repeated`)
})
