/** The lanes of one webhook: one update at a time in each, in order; lanes do not wait for each other. */
import type { FailingUpdate } from '../../machines/webhook/progress.ts'
import type { WebhookUpdate } from '../ports/webhooks.ts'

export type Item = Pick<WebhookUpdate, 'updateId' | 'lane'>

interface Lane<Update extends Item> {
  readonly queue: Update[]
  isBusy: boolean
  /** Consecutive failures of the first update in the queue. */
  failures: number
  failingSince: number
  dueAt: number
}

/** If so many lanes begin to fail without a success between them, the endpoint itself is failing. */
const SUSPICIOUS = 3

export class Lanes<Update extends Item> {
  readonly #lanes = new Map<string, Lane<Update>>()
  /** Lanes that have an update and no failure, in the order of their turns. */
  readonly #ready = new Set<Lane<Update>>()
  /** In the order of their last attempts. */
  readonly #failing = new Set<Lane<Update>>()
  /** Failures from before a restart, by update id; only updates that are not read again yet. */
  readonly #before: Map<number, FailingUpdate>
  #healthyBusy = 0
  /** Lanes that began to fail since the last success. */
  #suspects = 0
  /** An attempt failed while the endpoint itself was failing, and none has succeeded since. */
  #isDead = false
  #goneSince: number | undefined

  constructor(before: readonly FailingUpdate[] = []) {
    this.#before = new Map(before.map((failing) => [failing[0], failing]))
  }

  add(update: Update): void {
    const lane = this.#lanes.get(update.lane) ?? this.#begin(update.lane)
    lane.queue.push(update)
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
    let next = Number.POSITIVE_INFINITY
    for (const { isBusy, dueAt } of this.#failing) if (!isBusy && dueAt < next) next = dueAt
    return next
  }

  /** The next update to deliver; its lane is busy until its outcome is reported. */
  take(now: number): Update | undefined {
    for (const lane of this.#ready) return this.#start(lane)
    for (const lane of this.#failing)
      if (!lane.isBusy && lane.dueAt <= now) return this.#start(lane)
    return undefined
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
    this.#failing.add(lane)
    return { failures: lane.failures, since: lane.failingSince, dueAt: lane.dueAt }
  }

  /** The service itself cut the attempt short: it does not count. */
  cut(update: Update): void {
    const lane = this.#of(update)
    this.#rest(lane)
    if (lane.failures === 0) this.#ready.add(lane)
    else this.#failing.add(lane)
  }

  /** After a restart only the failure of the endpoint is known, not the lanes that began to fail. */
  doubt(goneSince?: number): void {
    this.#suspects = SUSPICIOUS
    this.#goneSince = goneSince
  }

  /** Makes all failing lanes due now. */
  #retryAll(now: number) {
    for (const lane of this.#failing) lane.dueAt = now
  }

  #start(lane: Lane<Update>): Update | undefined {
    lane.isBusy = true
    this.#ready.delete(lane)
    this.#failing.delete(lane)
    if (lane.failures > 0) this.#failing.add(lane)
    else this.#healthyBusy++
    return lane.queue[0]
  }

  #rest(lane: Lane<Update>) {
    lane.isBusy = false
    this.#failing.delete(lane)
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
    this.#failing.add(lane)
  }

  #begin(name: string): Lane<Update> {
    const lane = { queue: [], isBusy: false, failures: 0, failingSince: 0, dueAt: 0 }
    this.#lanes.set(name, lane)
    return lane
  }

  #of({ lane: name, updateId }: Update): Lane<Update> {
    const lane = this.#lanes.get(name)
    if (lane?.queue[0]?.updateId !== updateId) throw new Error(`update ${updateId} is not first`)
    return lane
  }
}
