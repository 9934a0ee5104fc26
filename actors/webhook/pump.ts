/** Carries updates from the log to an endpoint: lane by lane, so many at once, each until it is acknowledged. */
import type { Flow, Trouble } from '../../machines/webhook/machine.ts'
import { type Progress, Reading } from '../../machines/webhook/progress.ts'
import { HOPELESS_MS, LONGEST_REST_MS, waitAfter } from '../../machines/webhook/schedule.ts'
import { Alarm } from '../host/alarm.ts'
import type { Attempt, AttemptRecord, Delivery, WebhookUpdate } from '../ports/webhooks.ts'
import { Feed, type FeedWorld } from './feed.ts'
import { Lanes } from './lanes.ts'
import { Saver, type SaverWorld } from './saver.ts'

export interface PumpWorld extends SaverWorld, FeedWorld {
  readonly maxConnections: number
  deliver(delivery: Delivery, signal: AbortSignal): Promise<Attempt>
  record(attempt: AttemptRecord): void
  /** An update was given up after a week. */
  dropped(): void
  /** Everything fails, or the probe did. */
  failed(trouble: Trouble): void
  /** Something got through while the endpoint was taken for dead. */
  answered(): void
  /** Something came that has nothing to do with what failed. */
  fresh(): void
  /** False while the key may not receive. */
  mayReceive(): boolean
  now(): number
  chance(): number
}

export interface PumpStart {
  readonly cursor: number
  readonly progress: Progress | undefined
  readonly trouble: Trouble | undefined
}

const AGAIN_MS = 1_000
/** Attempts at once of an endpoint that has not proved itself yet. */
const CAUTIOUS = 4
/** How long attempts under way may take to end when the delivery stops. */
const GRACE_MS = 2_000

export class Pump {
  readonly #world: PumpWorld
  readonly #reading: Reading
  readonly #saver: Saver
  readonly #feed: Feed
  readonly #lanes: Lanes<WebhookUpdate>
  readonly #cut = new AbortController()
  readonly #alarm: Alarm
  #flow: Flow = 'closed'
  #width = CAUTIOUS
  #inFlight = 0
  #isPoked = false
  /** When attempts ended the last time. */
  activeAt: number
  #probing: WebhookUpdate | undefined
  #trouble: Trouble | undefined
  /** It was not one chat that failed, but all of them. */
  #wasDead = false
  #goneSince: number | undefined
  /** Set once it stops: called when the last attempt has ended. */
  #ended: (() => void) | undefined

  constructor(world: PumpWorld, { cursor, progress, trouble }: PumpStart) {
    this.#world = world
    this.#alarm = new Alarm(world, () => this.poke())
    this.activeAt = world.now()
    this.#reading = new Reading(cursor, progress)
    this.#lanes = new Lanes(progress?.failing)
    const saved = (stored: number) => {
      world.saved(stored)
      this.poke()
    }
    // With a quarter of the connections there is enough to go on with while the rest is stored.
    const enough = 0.75 * world.maxConnections
    this.#saver = new Saver({ ...world, saved }, () => this.progress, enough)
    this.#feed = new Feed({
      world,
      reading: this.#reading,
      add: (update) => this.#lanes.add(update),
      changed: (isEmpty) => {
        // Nothing to acknowledge, and still the cursor may have moved.
        if (isEmpty) this.#saver.touch()
        this.poke()
      },
    })
    this.#trouble = trouble
    this.#goneSince = trouble?.goneSince
    if (trouble) this.#lanes.doubt()
  }

  get progress(): Progress {
    const { failing } = this.#lanes
    return failing.length > 0 ? { ...this.#reading.progress, failing } : this.#reading.progress
  }

  /** What the machine was told last of an endpoint that fails. */
  get trouble(): Trouble | undefined {
    return this.#trouble
  }

  /** Nothing is under way, and nothing is left to be delivered or stored. */
  get isIdle(): boolean {
    const waiting = this.#inFlight + this.#saver.unsaved + this.#reading.waiting
    return waiting === 0 && this.#feed.isCaughtUp
  }

  flow(flow: Flow): void {
    if (flow === 'open') {
      this.#trouble = undefined
      // A chat that fails while others get through keeps to its own times.
      if (this.#wasDead) this.#lanes.retryAll()
      this.#wasDead = false
    }
    if (flow === 'single') this.#width = CAUTIOUS
    this.#flow = flow
    this.poke()
  }

  /** Nobody judges any more what becomes of attempts: no other one begins. */
  close(): void {
    this.#flow = 'closed'
  }

  /** Something may have changed: updates, or what the key may do. */
  poke(): void {
    if (this.#ended || !this.#world.mayReceive()) return
    this.#start()
    if (this.#wantsMore) void this.#feed.read()
    if (this.#flow === 'closed' && this.#lanes.isWorthTrying) this.#world.fresh()
    else this.#alarm.set(this.#flow === 'open' ? this.#lanes.nextDue : Number.POSITIVE_INFINITY)
  }

  /** Begins nothing more; resolves once what was under way has ended and is stored. */
  async stop(): Promise<void> {
    this.#feed.stop()
    this.#alarm.set(Number.POSITIVE_INFINITY)
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    this.#ended = resolve
    if (this.#inFlight > 0) {
      const cancel = this.#world.later(() => this.#cut.abort(), GRACE_MS)
      await ended
      cancel()
    }
    await this.#saver.close()
  }

  /** An acknowledgement that is not stored occupies its connection: a crash repeats no more than those. */
  get #room(): number {
    if (this.#flow === 'closed') return 0
    const width = this.#flow === 'single' ? 1 : Math.min(this.#width, this.#world.maxConnections)
    return width - this.#inFlight - this.#saver.unsaved
  }

  #start() {
    if (this.#room <= 0) return
    const now = this.#world.now()
    const isProbe = this.#flow === 'single'
    while (this.#room > 0) {
      const update = isProbe ? this.#lanes.probe() : this.#lanes.take(now)
      if (!update) return
      if (isProbe) this.#probing = update
      this.#inFlight++
      void this.#attempt(update, now)
    }
  }

  async #attempt(update: WebhookUpdate, at: number): Promise<void> {
    const attempt = this.#lanes.failuresOf(update) + 1
    try {
      const body = update.body ?? (await this.#feed.bodyOf(update))
      // Retention took it meanwhile.
      if (body === undefined) return this.#end(update, 'given up')
      const { updateId, traceId } = update
      const isProbe = this.#probing === update
      const outcome = await this.#world.deliver({ updateId, body, isProbe }, this.#cut.signal)
      if (this.#cut.signal.aborted && !outcome.ok) return this.#end(update, 'cut')
      const nextAttemptAt = outcome.ok ? this.#succeed(update) : this.#fail(update, outcome)
      this.#record({ ...outcome, at, attempt, updateId, traceId, nextAttemptAt })
    } catch (cause) {
      this.#world.defect(cause)
      // Ours, not the endpoint's: a moment later it is as if it had not begun.
      await new Promise<void>((resolve) => this.#world.later(resolve, AGAIN_MS))
      this.#end(update, 'cut')
    }
  }

  /** The attempt has ended by now: that it cannot be recorded must not end it once more. */
  #record(attempt: AttemptRecord) {
    try {
      this.#world.record(attempt)
    } catch (cause) {
      this.#world.defect(cause)
    }
  }

  #succeed(update: WebhookUpdate): undefined {
    this.#goneSince = undefined
    this.#width = Math.min(2 * this.#width, this.#world.maxConnections)
    this.#end(update, 'delivered')
    if (this.#flow !== 'open') this.#world.answered()
  }

  /** Returns when it is tried again. */
  #fail(update: WebhookUpdate, { status, retryAfterMs = 0 }: Attempt): number | undefined {
    const now = this.#world.now()
    const wait = (failures: number, forMs: number) =>
      Math.max(
        waitAfter({ failures, forMs }, this.#world.chance()),
        Math.min(retryAfterMs, LONGEST_REST_MS),
      )
    if (status !== 410) this.#goneSince = undefined
    else this.#goneSince ??= now
    const isProbe = this.#probing === update
    const lane = this.#lanes.failed(update, now, wait)
    if (this.#flow === 'open' && now - lane.since >= HOPELESS_MS) {
      this.#world.dropped()
      return void this.#end(update, 'given up')
    }
    const trouble = (isProbe && this.#prolonged(now, wait)) || lane
    this.#end(update, 'failed')
    if (isProbe || (this.#flow === 'open' && this.#lanes.isDown)) {
      this.#trouble = { ...trouble, goneSince: this.#goneSince }
      this.#wasDead ||= this.#lanes.isDoubted
      this.#world.failed(this.#trouble)
    }
    return trouble.dueAt
  }

  /** Another probe failed: the endpoint rests by its own count, whichever lane was tried. */
  #prolonged(now: number, wait: (failures: number, forMs: number) => number) {
    if (!this.#trouble) return undefined
    const { failures, since } = this.#trouble
    return { failures: failures + 1, since, dueAt: now + wait(failures + 1, now - since) }
  }

  #end(update: WebhookUpdate, how: 'delivered' | 'given up' | 'failed' | 'cut') {
    this.#inFlight--
    if (this.#probing === update) this.#probing = undefined
    if (how === 'cut') this.#lanes.cut(update)
    else if (how === 'failed') this.#saver.touch()
    else {
      if (how === 'delivered') this.#lanes.succeeded(update)
      else this.#lanes.gaveUp(update)
      this.#feed.release(update)
      this.#reading.acknowledge(update.updateId)
      this.#saver.acknowledged()
    }
    if (this.#inFlight === 0) this.#ended?.()
    this.#pokeSoon()
  }

  /** Once for everything that ends in the same turn. */
  #pokeSoon() {
    if (this.#isPoked) return
    this.#isPoked = true
    queueMicrotask(() => {
      this.#isPoked = false
      this.activeAt = this.#world.now()
      this.poke()
    })
  }

  /** Lanes are found by reading on; of an endpoint that is dead for all of them none is looked for. */
  get #wantsMore(): boolean {
    if (!this.#feed.canRead) return false
    if (this.#flow === 'closed') return !this.#lanes.isDoubted && this.#lanes.ready === 0
    return this.#room > this.#lanes.ready
  }
}
