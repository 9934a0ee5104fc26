/** The lanes of one webhook: one update at a time in each, in order; lanes do not wait for each other. */
import { type FailingUpdate, untriedMs } from '../../machines/webhook/progress.ts'
import type { WebhookUpdate } from '../ports/webhooks.ts'

export type Item = Pick<WebhookUpdate, 'updateId' | 'lane'>

interface Lane<Update extends Item> {
  readonly queue: Update[]
  isBusy: boolean
  /** Consecutive failures of the first update in the queue. */
  failures: number
  failingSince: number
  dueAt: number
  /** Where it stands among the lanes that wait for their times. */
  place: number
}

const NOWHERE = -1

/** Failing lanes that wait for their times: a binary heap, because thousands of chats may fail at once. */
class DueLanes<Waiting extends Pick<Lane<Item>, 'dueAt' | 'place'>> {
  readonly #lanes: Waiting[] = []

  /** The one that is due first. */
  get first(): Waiting | undefined {
    return this.#lanes[0]
  }

  add(lane: Waiting): void {
    this.remove(lane)
    this.#rise(lane, this.#lanes.length)
  }

  remove(lane: Waiting): void {
    const { place } = lane
    if (place === NOWHERE) return
    lane.place = NOWHERE
    const last = this.#lanes.pop()
    if (!last || last === lane) return
    this.#sink(last, place)
    this.#rise(last, last.place)
  }

  #rise(lane: Waiting, from: number) {
    let place = from
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = this.#lanes[above]
      if (!parent || parent.dueAt <= lane.dueAt) break
      this.#put(parent, place)
      place = above
    }
    this.#put(lane, place)
  }

  #sink(lane: Waiting, from: number) {
    let place = from
    while (true) {
      const [left, right] = [this.#lanes[2 * place + 1], this.#lanes[2 * place + 2]]
      const sooner = left && right && right.dueAt < left.dueAt ? right : left
      if (!sooner || sooner.dueAt >= lane.dueAt) break
      const below = sooner.place
      this.#put(sooner, place)
      place = below
    }
    this.#put(lane, place)
  }

  #put(lane: Waiting, place: number) {
    this.#lanes[place] = lane
    lane.place = place
  }
}

/** If so many lanes begin to fail without a success between them, the endpoint itself is failing. */
const SUSPICIOUS = 3
/** A clock that is set right by less delays nobody for long. */
const SET_BACK_MS = 60_000

export class Lanes<Update extends Item> {
  readonly #lanes = new Map<string, Lane<Update>>()
  /** Lanes that have an update and no failure, in the order of their turns. */
  readonly #ready = new Set<Lane<Update>>()
  /** In the order of their last attempts. */
  readonly #failing = new Set<Lane<Update>>()
  /** Those of them that are not busy. */
  readonly #due = new DueLanes<Lane<Update>>()
  /** Failures from before a restart, by update id; only updates that are not read again yet. */
  readonly #before: Map<number, FailingUpdate>
  #healthyBusy = 0
  /** Lanes that began to fail since the last success. */
  #suspects = 0
  /** An attempt failed while the endpoint itself was failing, and none has succeeded since. */
  #isDead = false
  #goneSince: number | undefined
  /** The time of the last take. */
  #takenAt = 0

  constructor(before: readonly FailingUpdate[] = []) {
    this.#before = new Map(before.map((failing) => [failing[0], failing]))
  }

  add(update: Update): void {
    const lane = this.#laneWith(update)
    if (this.#before.size > 0) this.#recall(update, lane)
    if (!lane.isBusy && lane.failures === 0) this.#ready.add(lane)
  }

  /** Number of updates in this lane. */
  lengthOf(lane: string): number {
    return this.#lanes.get(lane)?.queue.length ?? 0
  }

  /** The failing lanes, for the progress that is stored. */
  get failing(): FailingUpdate[] {
    const failing = [...this.#before.values()]
    for (const { queue, failures, failingSince, dueAt } of this.#failing) {
      if (queue[0]) failing.push([queue[0].updateId, failures, failingSince, dueAt])
    }
    return failing
  }

  /** Number of lanes that have an update and no failure. */
  get ready(): number {
    return this.#ready.size
  }

  /** Every lane fails, or enough of them began to fail at the same time. */
  get isDown(): boolean {
    if (this.#failing.size === 0) return false
    return this.isDoubted || (this.#ready.size === 0 && this.#healthyBusy === 0)
  }

  /** If this many lanes have failed, the others would probably fail as well. */
  get isDoubted(): boolean {
    return this.#suspects >= SUSPICIOUS
  }

  /** There is an update that may succeed although other lanes fail. */
  get isWorthTrying(): boolean {
    return this.#ready.size > 0 && !this.isDoubted
  }

  /** Since when every answer was `410 Gone`. */
  get goneSince(): number | undefined {
    return this.#goneSince
  }

  /** When the next failing lane is due; infinity if there is none. */
  get nextDue(): number {
    return this.#due.first?.dueAt ?? Number.POSITIVE_INFINITY
  }

  /** The next update to deliver; its lane is busy until its outcome is reported. */
  take(now: number): Update | undefined {
    // Set back since: the lanes have times that this clock may reach in a day.
    if (now < this.#takenAt - SET_BACK_MS) this.#retryAll(now)
    this.#takenAt = now
    for (const lane of this.#ready) return this.#start(lane)
    const { first } = this.#due
    if (!first || first.dueAt > now) return undefined
    first.failingSince += untriedMs(first.dueAt, now)
    return this.#start(first)
  }

  /** The update to test the endpoint with: one without failures, else the one whose last attempt is the oldest. */
  probe(): Update | undefined {
    for (const lane of this.#ready) return this.#start(lane)
    for (const lane of this.#failing) if (!lane.isBusy) return this.#start(lane)
    return undefined
  }

  /** Consecutive failures of this update. */
  failuresOf({ lane }: Update): number {
    return this.#lanes.get(lane)?.failures ?? 0
  }

  succeeded(update: Update, now: number): void {
    this.#suspects = 0
    this.#goneSince = undefined
    // A chat that failed while others succeeded keeps to its own times.
    if (this.#isDead) this.#retryAll(now)
    this.#isDead = false
    this.#leave(update)
  }

  /** The update will not be delivered; its lane goes on with the next one. */
  gaveUp(update: Update): void {
    this.#leave(update)
  }

  /** Returns the state of the lane; `wait` gives the time to its next attempt. */
  failed(
    update: Update,
    now: number,
    wait: (failures: number, forMs: number) => number,
    isGone = false,
  ): { readonly failures: number; readonly since: number; readonly dueAt: number } {
    const lane = this.#of(update)
    this.#rest(lane)
    if (lane.failures === 0) {
      lane.failingSince = now
      this.#suspects++
    }
    this.#isDead ||= this.isDoubted
    this.#goneSince = isGone ? (this.#goneSince ?? now) : undefined
    lane.failures++
    lane.dueAt = now + wait(lane.failures, now - lane.failingSince)
    this.#wait(lane)
    return { failures: lane.failures, since: lane.failingSince, dueAt: lane.dueAt }
  }

  /** The service itself cut the attempt short: it does not count. */
  cut(update: Update): void {
    const lane = this.#of(update)
    this.#rest(lane)
    if (lane.failures === 0) this.#ready.add(lane)
    else this.#wait(lane)
  }

  /** After a restart only the failure of the endpoint is known, not the lanes that began to fail. */
  doubt(goneSince?: number): void {
    this.#suspects = SUSPICIOUS
    this.#goneSince = goneSince
  }

  #wait(lane: Lane<Update>) {
    this.#failing.add(lane)
    if (!lane.isBusy) this.#due.add(lane)
  }

  /** Makes all failing lanes due now: with equal times, any order is one of a heap. */
  #retryAll(now: number) {
    for (const lane of this.#failing) {
      lane.failingSince = Math.min(lane.failingSince, now)
      lane.dueAt = now
    }
  }

  #start(lane: Lane<Update>): Update | undefined {
    lane.isBusy = true
    this.#ready.delete(lane)
    this.#failing.delete(lane)
    this.#due.remove(lane)
    if (lane.failures > 0) this.#failing.add(lane)
    else this.#healthyBusy++
    return lane.queue[0]
  }

  #rest(lane: Lane<Update>) {
    lane.isBusy = false
    this.#failing.delete(lane)
    // One that is given up as it fails is due already.
    this.#due.remove(lane)
    if (lane.failures === 0) this.#healthyBusy--
  }

  #leave(update: Update) {
    const lane = this.#of(update)
    this.#rest(lane)
    lane.failures = 0
    lane.queue.shift()
    if (lane.queue.length > 0) this.#ready.add(lane)
    else this.#lanes.delete(update.lane)
  }

  #recall({ updateId }: Update, lane: Lane<Update>) {
    const before = this.#before.get(updateId)
    if (!before) return
    this.#before.delete(updateId)
    const [, failures, failingSince, dueAt] = before
    lane.failures = failures
    lane.failingSince = failingSince
    lane.dueAt = dueAt
    this.#wait(lane)
  }

  #laneWith(update: Update): Lane<Update> {
    const known = this.#lanes.get(update.lane)
    if (known) {
      known.queue.push(update)
      return known
    }
    const lane = {
      // An empty list would make room for many when it gets its first one, and most lanes never have a second.
      queue: [update],
      isBusy: false,
      failures: 0,
      failingSince: 0,
      dueAt: 0,
      place: NOWHERE,
    }
    this.#lanes.set(update.lane, lane)
    return lane
  }

  #of({ lane: name, updateId }: Update): Lane<Update> {
    const lane = this.#lanes.get(name)
    if (lane?.queue[0]?.updateId !== updateId) throw new Error(`update ${updateId} is not first`)
    return lane
  }
}
