/** The lanes of one webhook: one update at a time in each, in order; lanes do not wait for each other. */
import type { FailingUpdate } from '../../machines/webhook/progress.ts'

export interface Item {
  readonly updateId: number
  /** Updates of one lane are delivered one after another. */
  readonly lane: string
}

interface Lane<Update extends Item> {
  readonly queue: Update[]
  isBusy: boolean
  /** Of the first in the queue, in a row. */
  failures: number
  failingSince: number
  dueAt: number
}

/** From so many lanes that begin to fail, with no success between, it is the endpoint that fails. */
const SUSPICIOUS = 3

export class Lanes<Update extends Item> {
  readonly #lanes = new Map<string, Lane<Update>>()
  /** Healthy lanes with something to deliver, in the order of their turns. */
  readonly #ready = new Set<Lane<Update>>()
  /** In the order of their last tries. */
  readonly #failing = new Set<Lane<Update>>()
  /** What failed before a restart and was not read again yet, by its update. */
  readonly #before: Map<number, FailingUpdate>
  #healthyBusy = 0
  #suspects = 0

  constructor(before: readonly FailingUpdate[] = []) {
    this.#before = new Map(before.map((failing) => [failing[0], failing]))
  }

  add(update: Update): void {
    const lane = this.#lanes.get(update.lane) ?? this.#begin(update.lane)
    lane.queue.push(update)
    if (this.#before.size > 0) this.#recall(update, lane)
    if (!lane.isBusy && lane.failures === 0) this.#ready.add(lane)
  }

  /** What a restart has to know of the lanes. */
  get failing(): FailingUpdate[] {
    const failing = [...this.#before.values()]
    for (const { queue, failures, failingSince, dueAt } of this.#failing) {
      if (queue[0]) failing.push([queue[0].updateId, failures, failingSince, dueAt])
    }
    return failing
  }

  /** Lanes that could deliver at once and never failed. */
  get ready(): number {
    return this.#ready.size
  }

  /** Everything that is there fails, or enough of it began to at the same time. */
  get isDown(): boolean {
    if (this.#failing.size === 0) return false
    return this.isDoubted || (this.#ready.size === 0 && this.#healthyBusy === 0)
  }

  /** Too much failed to believe that anything else would get through. */
  get isDoubted(): boolean {
    return this.#suspects >= SUSPICIOUS
  }

  /** There is something that may well get through, whatever became of the rest. */
  get isWorthTrying(): boolean {
    return this.#ready.size > 0 && !this.isDoubted
  }

  /** When the next of the failing lanes has its turn. */
  get nextDue(): number {
    let next = Number.POSITIVE_INFINITY
    for (const { isBusy, dueAt } of this.#failing) if (!isBusy && dueAt < next) next = dueAt
    return next
  }

  /** The next update to deliver; its lane is busy until the outcome is told. */
  take(now: number): Update | undefined {
    for (const lane of this.#ready) return this.#start(lane)
    for (const lane of this.#failing)
      if (!lane.isBusy && lane.dueAt <= now) return this.#start(lane)
    return undefined
  }

  /** The update that shows whether the endpoint is back: one that never failed, else the one tried longest ago. */
  probe(): Update | undefined {
    for (const lane of this.#ready) return this.#start(lane)
    for (const lane of this.#failing) if (!lane.isBusy) return this.#start(lane)
    return undefined
  }

  /** How many failures in a row this update has behind it. */
  failuresOf({ lane }: Update): number {
    return this.#lanes.get(lane)?.failures ?? 0
  }

  succeeded(update: Update): void {
    this.#suspects = 0
    this.#leave(update)
  }

  /** It will not be delivered: the lane goes on with what comes after. */
  gaveUp(update: Update): void {
    this.#leave(update)
  }

  /** Returns how the lane stands; `wait` is asked for how long it rests. */
  failed(
    update: Update,
    now: number,
    wait: (failures: number, forMs: number) => number,
  ): { readonly failures: number; readonly since: number; readonly dueAt: number } {
    const lane = this.#of(update)
    this.#rest(lane)
    if (lane.failures === 0) {
      lane.failingSince = now
      this.#suspects++
    }
    lane.failures++
    lane.dueAt = now + wait(lane.failures, now - lane.failingSince)
    this.#failing.add(lane)
    return { failures: lane.failures, since: lane.failingSince, dueAt: lane.dueAt }
  }

  /** The attempt was cut short by us: as if it had not been begun. */
  cut(update: Update): void {
    const lane = this.#of(update)
    this.#rest(lane)
    if (lane.failures === 0) this.#ready.add(lane)
    else this.#failing.add(lane)
  }

  /** The endpoint is back: what failed need not wait for its turn. */
  retryAll(): void {
    for (const lane of this.#failing) lane.dueAt = 0
  }

  /** After a restart it is not known which lanes failed, only that the endpoint did. */
  doubt(): void {
    this.#suspects = SUSPICIOUS
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
    ;[, lane.failures, lane.failingSince, lane.dueAt] = before
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
