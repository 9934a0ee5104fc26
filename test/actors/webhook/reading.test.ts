/** What of the log is acknowledged, and what a restart makes of it. */

import t from 'tap'
import { Reading } from '../../../actors/webhook/feed.ts'
import fc from '../../support/fast-check.ts'

const updates = (...ids: readonly number[]) => ids.map((updateId) => ({ updateId }))

t.test('the cursor stops before the first update that is not acknowledged', async (t) => {
  const reading = new Reading(100, undefined)
  reading.take(updates(101, 103, 104), 105)
  t.equal(reading.cursor, 100)
  reading.acknowledge(103)
  t.same(reading.progress, { cursor: 100, head: 105, waiting: 2, open: [101, 101, 104, 104] })
  reading.acknowledge(101)
  t.equal(reading.cursor, 103)
  reading.acknowledge(104)
  t.same(reading.progress, { cursor: 105, head: 105, waiting: 0, open: [] })
})

t.test('neighbours are one run, whatever nobody wanted between them', async (t) => {
  const reading = new Reading(0, undefined)
  reading.take(updates(5, 9, 12), 20)
  t.same(reading.progress.open, [5, 12])
})

t.test('what was acknowledged is not delivered again after a restart', async () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
      fc.array(fc.nat(59)),
      fc.integer({ min: 0, max: 70 }),
      (ids, picks, reread) => {
        const sorted = ids.toSorted((a, b) => a - b)
        const first = new Reading(0, undefined)
        first.take(updates(...sorted), 60)
        const acknowledged = new Set(picks.map((pick) => sorted[pick % sorted.length]))
        for (const id of acknowledged) first.acknowledge(id ?? 0)
        // Once more in between, with only a part of the log read again.
        const second = new Reading(first.progress.cursor, first.progress)
        second.take(updates(...sorted.filter((id) => id > second.head && id <= reread)), reread)
        const third = new Reading(second.progress.cursor, second.progress)
        const rest = sorted.filter((id) => id > third.head)
        const again = third.take(updates(...rest), 60).map(({ updateId }) => updateId)
        const missing = sorted.filter((id) => !acknowledged.has(id))
        if (`${again}` !== `${missing}`) throw new Error(`${again} instead of ${missing}`)
      },
    ),
  )
})

t.test('what is acknowledged between two runs is passed, and does not join them', async (t) => {
  const open = [3, 4, 900, 900]
  const reading = new Reading(2, { cursor: 2, head: 1_000, waiting: 3, open })
  reading.skip()
  t.equal(reading.head, 2)
  t.same(reading.take(updates(3, 4), 4), updates(3, 4))
  reading.skip()
  t.equal(reading.head, 899)
  t.same(reading.take(updates(900), 900), updates(900))
  t.same(reading.progress.open, open)
  reading.skip()
  t.equal(reading.head, 1_000)
  reading.skip()
  t.same(reading.take(updates(1_001), 1_001), updates(1_001))
  t.same(reading.progress, { cursor: 2, head: 1_001, waiting: 4, open: [...open, 1_001, 1_001] })
})
