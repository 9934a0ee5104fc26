/** What of the log is acknowledged, and what a restart makes of it. */

import t from 'tap'
import { Reading } from '../../../actors/webhook/feed.ts'
import { joined, openedAs, openRuns, type Progress } from '../../../machines/webhook/progress.ts'
import fc from '../../support/fast-check.ts'

const update = (updateId: number) => ({ updateId, lane: 'A' })
const updates = (...ids: readonly number[]) => ids.map(update)

t.test('the cursor stops before the first update that is not acknowledged', async (t) => {
  const reading = new Reading(100, undefined)
  reading.take(updates(101, 103, 104), 105)
  t.equal(reading.cursor, 100)
  reading.acknowledge(update(103))
  t.same(reading.progress, { cursor: 100, head: 105, waiting: 2, open: [101, 101, 104, 104] })
  reading.acknowledge(update(101))
  t.equal(reading.cursor, 103)
  reading.acknowledge(update(104))
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
        for (const id of acknowledged) first.acknowledge(update(id ?? 0))
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

t.test('what a full lane has more stays in the log, and in the stored progress', async (t) => {
  const reading = new Reading(0, undefined)
  const log = [1, 2, 3, 4, 5, 6].map((updateId) => ({
    updateId,
    lane: 'AABABA'[updateId - 1] ?? '',
  }))
  const [first, , third, , fifth] = log
  const isFull = (lane: string) => lane === 'A' && reading.kept > 0
  t.same(reading.take(log, 6, isFull), [first, third, fifth])
  t.same(reading.progress, {
    cursor: 0,
    head: 6,
    waiting: 6,
    // An older node delivers all that the lane spans.
    open: [1, 6],
    apart: [1, 1, 3, 3, 5, 5],
    long: [['A', 2, 6, 3]],
  })
  for (const one of [first, third, fifth]) if (one) reading.acknowledge(one)
  t.equal(reading.cursor, 1)
  t.equal(reading.kept, 0)
  const long = reading.nextLong(() => true)
  if (!long) return t.fail('the lane is read again')
  t.equal(long.next, 2)
  t.same(reading.takeLong(long, log.slice(1), 6, 2), [log[1], log[3]])
  t.equal(reading.endLong(long), 0)
  t.equal(long.next, 6, 'it goes on at the first that had no room')
  t.same(reading.take([{ updateId: 7, lane: 'A' }], 7), [], 'nothing gets past it')
  t.same(reading.takeLong(long, log.slice(5), 9, 2), [log[5]], 'its last one was deleted')
  t.equal(reading.endLong(long), 1)
  t.equal(
    reading.nextLong(() => true),
    undefined,
  )
  for (const updateId of [2, 4, 6]) reading.acknowledge({ updateId, lane: 'A' })
  t.same(reading.progress, { cursor: 7, head: 7, waiting: 0, open: [] })
})

t.test('a long lane is in order and complete, whatever is delivered and restarted', async () => {
  const lanes = fc.array(fc.constantFrom('A', 'A', 'A', 'B', 'C'), { minLength: 1, maxLength: 60 })
  const steps = fc.array(fc.nat(11), { minLength: 50, maxLength: 400 })
  fc.assert(
    fc.property(lanes, steps, (log, choices) => {
      const model = new LaneModel(log.map((lane, place) => ({ updateId: place + 1, lane })))
      for (const choice of choices) model.step(choice)
      model.finish()
      for (const lane of 'ABC') {
        const wanted = log.flatMap((name, place) => (name === lane ? [place + 1] : []))
        const got = model.delivered.filter((one) => one.lane === lane)
        const ids = got.map(({ updateId }) => updateId)
        if (`${ids}` !== `${wanted}`) throw new Error(`${lane}: ${ids} instead of ${wanted}`)
      }
    }),
  )
})

/** As a resend of everything does it; `updates` were delivered before. */
const resent = (progress: Progress, updates: number): Progress =>
  openedAs(progress, joined(openRuns(progress), [[1, progress.head]]), progress.waiting + updates)

t.test('a resend over a long lane counts its updates once', async (t) => {
  const log = [1, 2, 3, 4, 5, 6].map((updateId) => ({
    updateId,
    lane: 'AABAAB'[updateId - 1] ?? '',
  }))
  const before = new Reading(0, undefined)
  const [first, second, third, fourth, fifth, sixth] = log
  t.same(
    before.take(log, 6, (lane) => lane === 'A' && before.kept > 0),
    [first, third, sixth],
  )
  for (const one of [first, third, sixth]) if (one) before.acknowledge(one)
  t.same(before.progress.long, [['A', 2, 5, 3]])
  const progress = resent(before.progress, 3)
  const reading = new Reading(progress.cursor, progress)
  t.same(reading.take(log, 6), [first, third, sixth], 'they come again')
  t.equal(reading.waiting, 6)
  const long = reading.nextLong(() => true)
  if (!long) return t.fail('the lane is read')
  t.same(reading.takeLong(long, log.slice(1), 6, 3), [second, fourth, fifth])
  t.equal(reading.endLong(long), 0, 'nothing is missing')
  for (const one of log) reading.acknowledge(one)
  t.same(reading.progress, { cursor: 6, head: 6, waiting: 0, open: [] })
})

t.test('nothing of a long lane is missed, nor left out, by resends', async () => {
  const lanes = fc.array(fc.constantFrom('A', 'A', 'A', 'B', 'C'), { minLength: 1, maxLength: 60 })
  const steps = fc.array(fc.nat(12), { minLength: 50, maxLength: 400 })
  fc.assert(
    fc.property(lanes, steps, (log, choices) => {
      const model = new LaneModel(log.map((lane, place) => ({ updateId: place + 1, lane })))
      for (const choice of choices) model.step(choice)
      model.finish()
      const ids = [...new Set(model.delivered.map(({ updateId }) => updateId))]
      if (ids.length !== log.length) throw new Error(`${ids.length} of ${log.length}`)
    }),
  )
})

interface Item {
  readonly updateId: number
  readonly lane: string
}

const PAGE = 4
const KEPT = 3

/** Reads a log by small pages into small lanes, delivers from any of them, and begins anew at any time. */
class LaneModel {
  readonly delivered: Item[] = []
  readonly #log: readonly Item[]
  #reading = new Reading(0, undefined)
  #lanes = new Map<string, Item[]>()

  constructor(log: readonly Item[]) {
    this.#log = log
  }

  step(choice: number): void {
    if (choice === 12) this.#restart((progress) => resent(progress, this.delivered.length))
    else if (choice === 11) this.#restart()
    else if (choice > 8) this.#readLong()
    else if (choice > 5) this.#readOn()
    else this.#deliver('ABC'[choice % 3] ?? '')
  }

  finish(): void {
    for (let round = 0; round < 3 * this.#log.length + 10; round++) {
      this.#readOn()
      this.#readLong()
      for (const lane of 'ABC') this.#deliver(lane)
    }
    const { waiting, cursor } = this.#reading.progress
    if (waiting !== 0 || cursor !== this.#log.length) throw new Error(`${waiting} wait`)
  }

  #length = (lane: string) => this.#lanes.get(lane)?.length ?? 0

  #page(after: number) {
    const page = this.#log.filter(({ updateId }) => updateId > after).slice(0, PAGE)
    return { page, head: page.at(-1)?.updateId ?? after }
  }

  #add(taken: readonly Item[]) {
    for (const one of taken) this.#lanes.set(one.lane, [...(this.#lanes.get(one.lane) ?? []), one])
  }

  #readOn() {
    this.#reading.skip()
    const { page, head } = this.#page(this.#reading.head)
    for (const one of page) {
      this.#add(this.#reading.take([one], one.updateId, (lane) => this.#length(lane) >= KEPT))
    }
    this.#reading.take([], head)
  }

  #readLong() {
    const long = this.#reading.nextLong((lane) => this.#length(lane) < 2)
    if (!long) return
    const { page, head } = this.#page(long.next - 1)
    const end = page.length === PAGE ? head : Math.max(head, long.to)
    const room = KEPT - this.#length(long.lane)
    this.#add(this.#reading.takeLong(long, page, end, room))
    if (this.#reading.endLong(long) > 0) throw new Error('nothing was deleted')
  }

  #deliver(lane: string) {
    const [first, ...others] = this.#lanes.get(lane) ?? []
    if (!first) return
    this.#lanes.set(lane, others)
    this.delivered.push(first)
    this.#reading.acknowledge(first)
  }

  #restart(change = (progress: Progress) => progress) {
    const stored = JSON.parse(JSON.stringify(change(this.#reading.progress)))
    this.#reading = new Reading(stored.cursor, stored.waiting > 0 ? stored : undefined)
    this.#lanes = new Map()
  }
}
