/** The short form of `npm run test:cluster`: three nodes under load, and a fault of each kind. */
import t from 'tap'
import { linesOf, runSuites, totalOf, violationsIn } from './rounds.ts'
import { SHORT } from './short.ts'
import type { SuiteName } from './suites.ts'

/** While other tests run on the same cores, a thawed or cut off process may answer late: then no call is promised. */
const promised: readonly SuiteName[] = ['crash', 'rolling']

t.test('faults of every kind', { timeout: 900_000 }, async (t) => {
  const seed = Date.now() % 2 ** 31
  t.comment(`seed ${seed}`)
  const began = performance.now()
  const done = (suite: SuiteName, round: number) =>
    t.comment(`${suite} ${round} done after ${Math.round((performance.now() - began) / 1_000)} s`)
  const report = await runSuites({ ...SHORT, seed, done })
  for (const line of linesOf(report)) t.comment(line)
  t.comment(totalOf([report]))
  t.same(violationsIn(report), [])
  for (const { suite, failed, calls } of report.suites) {
    if (promised.includes(suite)) t.same(failed, [], suite)
    t.ok(calls > 50, suite)
  }
  const calls = report.suites.reduce((sum, suite) => sum + suite.calls, 0)
  t.ok(calls > 100 * report.suites.length, `${calls} calls in all`)
})
