/** The short form of `npm run test:cluster`: three nodes under load, and a fault of each kind. */
import t from 'tap'
import { linesOf, runSuite } from './rounds.ts'
import type { SuiteName } from './suites.ts'

const takesMs = 300_000
t.setTimeout(5 * takesMs)

/** While other tests run on the same cores, a thawed or cut off process may answer late: then no call is promised. */
const promised: readonly SuiteName[] = ['crash', 'rolling']
const rounds: Readonly<Partial<Record<SuiteName, number>>> = {
  crash: 2,
  freeze: 1,
  rolling: 1,
  postgres: 1,
  partition: 1,
}

for (const [suite, count] of Object.entries(rounds) as [SuiteName, number][]) {
  t.test(suite, { timeout: takesMs }, async (t) => {
    const seed = Date.now() % 2 ** 31
    const load = { nodes: 3, accounts: 8, idle: 0, perSecond: 2 }
    const report = await runSuite({ suite, rounds: count, seed, ...load })
    t.comment(`seed ${seed}`)
    for (const line of linesOf(report)) t.comment(line)
    t.same(report.violations, [])
    if (promised.includes(suite)) t.same(report.failed, [])
    t.ok(report.calls > 100)
  })
}
