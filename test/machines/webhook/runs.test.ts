/** Runs of ids, against sets that hold each id. */
import t from 'tap'
import {
  common,
  joined,
  openedAs,
  openRuns,
  type Runs,
  without,
} from '../../../machines/webhook/progress.ts'
import fc from '../../support/fast-check.ts'

const idsOf = (runs: Runs): Set<number> => {
  const ids = new Set<number>()
  for (const [from, to] of runs) for (let id = from; id <= to; id++) ids.add(id)
  return ids
}

/** In order, without common ids, and none that continues another. */
const someRuns = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 6 })), {
    maxLength: 6,
  })
  .map((pairs) =>
    joined(
      pairs.map(([from, length]) => [from, from + length] as const),
      [],
    ),
  )

const isInOrder = (runs: Runs) =>
  runs.every(([from, to], at) => from <= to && (at === 0 || from > (runs[at - 1]?.[1] ?? 0)))

t.test('what is in one, in both, or in the first alone', async (t) => {
  fc.assert(
    fc.property(someRuns, someRuns, (some, others) => {
      const [first, second] = [idsOf(some), idsOf(others)]
      const all = [...new Set([...first, ...second])].toSorted((a, b) => a - b)
      const results: [Runs, number[]][] = [
        [joined(some, others), all],
        [common(some, others), all.filter((id) => first.has(id) && second.has(id))],
        [without(some, others), all.filter((id) => first.has(id) && !second.has(id))],
      ]
      for (const [runs, ids] of results) {
        t.ok(isInOrder(runs), JSON.stringify(runs))
        t.same([...idsOf(runs)], ids)
      }
    }),
  )
})

t.test(
  'progress with other runs open goes on before the first of them, or at its head',
  async (t) => {
    const before = { cursor: 50, head: 60, waiting: 2, open: [51, 51, 53, 53] }
    fc.assert(
      fc.property(someRuns, (runs) => {
        const opened = openedAs(before, runs, 7)
        t.same(openRuns(opened), runs)
        t.equal(opened.head, 60)
        t.equal(opened.cursor, (runs[0]?.[0] ?? 61) - 1)
        t.equal(opened.waiting, runs.length === 0 ? 0 : 7)
      }),
    )
  },
)
