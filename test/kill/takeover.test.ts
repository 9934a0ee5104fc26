/** Takeovers in their short form: two processes, one database, and nothing lost, doubled or left in a wrong state. */
import t, { type Test } from 'tap'
import { testDatabase } from '../support/database.ts'
import { runTakeovers, takeoverSummary } from './takeovers.ts'

const takesMs = 300_000
const TAKEOVERS = Number(process.env.TAKEOVERS ?? 4)
/** What an owner needs at most to learn that it has lost an account; half of it is for a busy machine. */
const LEARNS_MS = 3_000

t.setTimeout(2 * takesMs)

async function nothingWrong(t: Test, isShared: boolean) {
  const { url } = await testDatabase(t)
  const plan = { databaseUrl: url, takeovers: TAKEOVERS, perSecond: 60, isShared }
  const report = await runTakeovers(plan)
  for (const line of takeoverSummary(report)) t.comment(line)
  t.equal(report.lost, 0)
  t.same(report.violations, [])
  t.same(report.doubled, [])
  t.equal(report.delivered, report.acknowledged)
  t.ok(report.sends.ok > 0)
  const online = { state: 'active', machine_state: 'live.online' }
  t.same(report.states, [online, online, online], 'and the owner is not blamed for the other')
  return report
}

t.test('a network that lets the newest connection in displaces the owner before', async (t) => {
  t.setTimeout(takesMs)
  const { lateSends } = await nothingWrong(t, false)
  t.same(lateSends, [], 'no fenced owner sends')
})

t.test('where both may be connected, a fenced owner soon stops by itself', async (t) => {
  t.setTimeout(takesMs)
  const { lateSends } = await nothingWrong(t, true)
  t.same(
    lateSends.filter(({ afterMs }) => afterMs > LEARNS_MS),
    [],
    'no fenced owner sends on',
  )
})
