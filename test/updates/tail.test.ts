/** The newest updates in memory: contiguous, bounded by count and by size, and counted as they are. */
import t from 'tap'
import type { Row } from '../../src/updates/row.ts'
import { Tail } from '../../src/updates/tail.ts'
import fc from '../support/fast-check.ts'
import { FIRST } from './stage.ts'

const row = (updateId: number, length: number): Row => ({
  updateId,
  kind: 0,
  chatId: 1,
  apiKeyId: null,
  traceId: null,
  payload: 'x'.repeat(length),
})

/** All that it holds, which is what it can tell after the earliest id that it can tell of. */
function held(tail: Tail): readonly Row[] {
  let rows = tail.after(tail.next - 1) ?? []
  for (let after = tail.next - 2; ; after--) {
    const more = tail.after(after)
    if (!more) return rows
    rows = more
  }
}

const estimate = (rows: readonly Row[]) =>
  rows.reduce((bytes, { payload }) => bytes + 200 + 2 * payload.length, 0)

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('push' as const), by: fc.nat(400_000) }) },
  fc.record({
    kind: fc.constantFrom('removed' as const, 'reach' as const),
    by: fc.integer({ min: -3, max: 8 }),
  }),
  fc.record({ kind: fc.constant('clear' as const), by: fc.constant(0) }),
)

t.test('whatever happens to it, it holds what it says that it holds', async (t) => {
  const property = fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const tail = new Tail(FIRST)
    for (const { kind, by } of steps) {
      const { next } = tail
      if (kind === 'push') tail.push(row(next, by))
      else if (kind === 'removed') tail.removed(next - 1 - by)
      else if (kind === 'reach') tail.reach(next + by)
      else tail.clear()
      const rows = held(tail)
      const isContiguous = rows.every(
        ({ updateId }, at) => updateId === tail.next - rows.length + at,
      )
      const isCounted = tail.bytes === estimate(rows)
      if (!isContiguous || !isCounted || tail.next < next) return false
    }
    return true
  })
  fc.assert(property, { numRuns: 300 })
  t.pass('300 histories')
})

t.test('neither long texts nor many of them grow beyond twice the measure', async (t) => {
  const [long, many] = [new Tail(FIRST), new Tail(FIRST)]
  let [longest, most] = [0, 0]
  const filling = new Tail(FIRST)
  for (let n = 0; n < 1_999; n++) filling.push(row(FIRST + n, 0))
  t.equal(held(filling).length, 1_999, 'it is not cut for each update')
  for (let n = 0; n < 100; n++) {
    long.push(row(FIRST + n, 100_000))
    longest = Math.max(longest, long.bytes)
  }
  for (let n = 0; n < 5_000; n++) {
    many.push(row(FIRST + n, 0))
    most = Math.max(most, many.bytes)
  }
  t.ok(longest <= 2 * 2_000_000 + 20 * 200, `${longest}`)
  t.ok(held(long).length >= 10, 'the newest stay')
  t.ok(most <= 2_000 * 200, `${most}`)
  t.ok(held(many).length >= 1_000, 'the newest stay')
  t.same(held(many).at(-1)?.updateId, FIRST + 4_999)
})

t.test('a log that goes on further is read from the database up to there', async (t) => {
  const tail = new Tail(FIRST)
  tail.push(row(FIRST, 1))
  tail.reach(FIRST + 1)
  t.equal(tail.after(FIRST - 1)?.length, 1, 'what goes on where it ends stays')
  tail.reach(FIRST + 5)
  t.equal(tail.next, FIRST + 5)
  t.equal(tail.after(FIRST - 1), undefined)
  t.equal(tail.after(FIRST + 3), undefined)
  t.same(tail.after(FIRST + 4), [])
})
