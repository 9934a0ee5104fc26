/** Delivers the updates of one key to its webhook: the machine judges the endpoint, and this class carries it out. */
import type { SnapshotFrom } from 'xstate'
import {
  type Flow,
  HOPELESS_MS,
  LONGEST_REST_MS,
  type Notice,
  type Trouble,
  troubleAt,
  waitAfter,
  webhookMachine,
} from '../../machines/webhook/machine.ts'
import { failingAt, type Progress, untriedMs } from '../../machines/webhook/progress.ts'
import type { WebhookFacts, WebhookStanding, WebhookState } from '../../machines/webhook/terms.ts'
import { HostedActor } from '../host/actor.ts'
import { ActorHost, jitteredCrashDelays } from '../host/host.ts'
import { Alarm, later, pause } from '../host/time.ts'
import type {
  Attempt,
  AttemptRecord,
  DeliveryWorld,
  ReceivingKey,
  WebhookEndpoint,
  WebhookExchange,
  WebhookUpdate,
} from '../ports/webhooks.ts'
import { Feed, Reading } from './feed.ts'
import { Lanes } from './lanes.ts'
import { Saver } from './saver.ts'

interface DeliveryStart {
  readonly facts: WebhookFacts
  readonly cursor: number
  /** When earlier deliveries of this webhook crashed. */
  readonly crashes: readonly number[]
}

/** Through a longer rest the actor may sleep: a reminder wakes it. */
const LONG_MS = 60_000
/** The key's machine gets the cursor with this delay; the table has the exact one. */
const MOVED_LAG_MS = 100
const AGAIN_MS = 1_000
/** Parallel attempts at an endpoint that has not proved itself yet. */
const CAUTIOUS = 4
/** Time for the attempts under way to end when the delivery stops. */
const GRACE_MS = 2_000

export class WebhookDelivery {
  readonly #key: ReceivingKey
  readonly #world: DeliveryWorld
  readonly #facts: WebhookFacts
  #machine: HostedActor<typeof webhookMachine, WebhookDelivery>
  readonly #reading: Reading
  readonly #lanes: Lanes<WebhookUpdate>
  readonly #feed: Feed
  readonly #saver: Saver
  readonly #alarm: Alarm
  readonly #cut = new AbortController()
  #endpoint: WebhookEndpoint | undefined
  /** Whether, and how carefully, the machine lets updates go out now. */
  #flow: Flow = 'closed'
  #width = CAUTIOUS
  #inFlight = 0
  #isPoked = false
  /** When attempts ended last. */
  #activeAt: number
  /** The last state of the machine: the next delivery goes on from there, also after a crash. */
  #noted: WebhookState
  /** The cursor that the key's machine is to get. */
  #moved: { cursor: number; readonly cancel: () => void } | undefined
  /** Set once it stops; called when the last attempt has ended. */
  #ended: (() => void) | undefined

  constructor(key: ReceivingKey, world: DeliveryWorld, { facts, cursor, crashes }: DeliveryStart) {
    const { clock } = world
    const { suspended, progress } = facts
    const now = clock.now()
    const trouble = facts.trouble && troubleAt(facts.trouble, now)
    this.#key = key
    this.#world = world
    this.#facts = facts
    this.#noted = { trouble, suspended }
    this.#alarm = new Alarm(clock, () => this.poke())
    this.#activeAt = now
    const reading = new Reading(cursor, progress)
    const endpointMs = facts.trouble && untriedMs(facts.trouble.dueAt, now)
    const lanes = new Lanes<WebhookUpdate>(failingAt(progress?.failing ?? [], now, endpointMs))
    if (trouble) lanes.doubt(trouble.goneSince)
    this.#reading = reading
    this.#lanes = lanes
    this.#saver = new Saver({
      key,
      world,
      // With a quarter of the connections there is enough to go on with while the rest is stored.
      enough: 0.75 * facts.maxConnections,
      progress: () => this.progress,
      saved: (stored) => this.#saved(stored),
    })
    const changed = (isMoved: boolean) => {
      if (isMoved) this.#saver.touch()
      this.poke()
    }
    this.#feed = new Feed({ key, world, reading, lanes, changed })
    const input = { trouble, suspended, crashes, now }
    // Assigned before the machine starts, because its first actions already use it.
    this.#machine = host.begin({ clock, input }, (ref) => {
      this.#machine = new HostedActor(ref, this, clock, host)
      return this.#machine
    })
  }

  get snapshot(): SnapshotFrom<typeof webhookMachine> {
    return this.#machine.snapshot
  }

  get progress(): Progress {
    const { failing } = this.#lanes
    const { progress } = this.#reading
    return failing.length > 0 ? { ...progress, failing } : progress
  }

  /** The state in which the next delivery begins. */
  get standing(): WebhookStanding {
    return { ...this.#noted, progress: this.progress }
  }

  /** No attempt is made for long, or before a user asks for it. */
  get hasGivenUp(): boolean {
    const { value } = this.snapshot
    return value === 'suspended' || value === 'crashed' || value === 'failed'
  }

  /** The IP address of the last connection. */
  get address(): string | undefined {
    return this.#endpoint?.address
  }

  /** Whether it has been inactive for that long, or is suspended until something wakes it. */
  isIdle(forMilliseconds: number): boolean {
    const { value, context } = this.snapshot
    const now = this.#world.clock.now()
    if (value === 'suspended') return true
    if (value === 'resting') return (context.trouble?.dueAt ?? 0) - now > LONG_MS
    const waiting = this.#inFlight + this.#saver.unsaved + this.#reading.waiting
    return waiting === 0 && this.#feed.isCaughtUp && now - this.#activeAt >= forMilliseconds
  }

  /** There may be new updates, or the key may receive others than before. */
  poke(): void {
    if (this.#ended || !this.#key.mayReceive) return
    this.#start()
    const wantsMore = this.#wantsMore
    if (wantsMore || this.#feed.canReadLong) void this.#feed.read(wantsMore)
    // Without room, what is due waits for an attempt to end: an alarm would ring again and again.
    if (this.#flow === 'closed' && this.#lanes.isWorthTrying) {
      this.#machine.tell({ type: 'lane.fresh' })
    } else this.#alarm.set(this.#room > 0 ? this.#lanes.nextDue : Number.POSITIVE_INFINITY)
  }

  /** Resolves once nothing is under way and every acknowledgement is stored. */
  async stop(): Promise<void> {
    this.#machine.stop()
    this.#feed.stop()
    this.#alarm.set(Number.POSITIVE_INFINITY)
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    this.#ended = resolve
    if (this.#inFlight > 0) {
      const cancel = later(this.#world.clock, () => this.#cut.abort(), GRACE_MS)
      await ended
      cancel()
    }
    await this.#saver.close()
    this.#moved?.cancel()
    this.#endpoint?.close()
  }

  /** For the machine: so many attempts may be under way from now on. */
  setFlow(flow: Flow): void {
    // Opened here, so that an endpoint that cannot be opened crashes the machine and is tried again after a rest.
    if (flow !== 'closed') this.#open()
    if (flow === 'single') this.#width = CAUTIOUS
    this.#flow = flow
    this.poke()
  }

  /** For the machine: stores the state of the endpoint. */
  note(trouble: Trouble | undefined, suspended: boolean): void {
    // If the store throws, the machine crashes; the next delivery then knows the trouble and judges it again.
    this.#noted = { trouble, suspended: false }
    this.#world.webhooks.saveState(this.#key.owned, { trouble, suspended })
    this.#noted = { trouble, suspended }
  }

  /** For the machine: it has to be awake at this time. */
  remind(at: number): void {
    const { webhooks, clock } = this.#world
    if (at - clock.now() > LONG_MS) webhooks.remind(this.#key.owned.apiKeyId, at)
  }

  /** For the machine: the owner learns that the endpoint gets nothing. */
  notify(notice: Notice, since: number): void {
    this.#world.webhooks.notify(this.#key.owned, notice, since)
  }

  /** For the machine: the receiver wants no more. */
  turnOff(): void {
    this.#key.gone()
  }

  /** For the host: the machine has crashed, so that no attempt would be judged any more. */
  crashed(cause: unknown): void {
    this.#flow = 'closed'
    this.#key.crashed(cause)
  }

  #open(): WebhookEndpoint {
    this.#endpoint ??= this.#world.webhooks.open(this.#key.owned, this.#facts)
    return this.#endpoint
  }

  /** An acknowledgement that is not stored occupies its connection: a crash repeats no more than those. */
  get #room(): number {
    if (this.#flow === 'closed') return 0
    const width = this.#flow === 'single' ? 1 : Math.min(this.#width, this.#facts.maxConnections)
    return width - this.#inFlight - this.#saver.unsaved
  }

  #start() {
    const now = this.#world.clock.now()
    const isProbe = this.#flow === 'single'
    while (this.#room > 0) {
      const update = isProbe ? this.#lanes.probe() : this.#lanes.take(now)
      if (!update) return
      this.#inFlight++
      void this.#attempt(update, now, isProbe)
    }
  }

  async #attempt(update: WebhookUpdate, at: number, isProbe: boolean): Promise<void> {
    const { updateId, traceId } = update
    const attempt = this.#lanes.failuresOf(update) + 1
    const isRepeated = this.#reading.wasRead(updateId)
    try {
      const body = update.body ?? (await this.#feed.bodyOf(update))
      if (body === undefined) return this.#missed(update)
      const { signal } = this.#cut
      const outcome = await this.#open().deliver({ updateId, body, isProbe }, signal)
      if (signal.aborted && !outcome.ok) return this.#end(update, 'cut')
      const nextAttemptAt = outcome.ok
        ? this.#succeed(update)
        : this.#fail(update, outcome, isProbe)
      const { ok, status, error, retryAfterMs, durationMs, exchange } = outcome
      // One object, not several that are joined: thousands a second end.
      this.#record(
        {
          ok,
          status,
          error,
          retryAfterMs,
          durationMs,
          at,
          updateId,
          attempt,
          isRepeated,
          traceId,
          nextAttemptAt,
        },
        exchange,
      )
    } catch (cause) {
      this.#defect(cause)
      // Internal error: undo the attempt after a pause, do not count it.
      await pause(this.#world.clock, AGAIN_MS)
      this.#end(update, 'cut')
    }
  }

  /** Retention has deleted it, and has counted it unless it is of a long lane. */
  #missed(update: WebhookUpdate) {
    if (this.#reading.isOfLong(update)) this.#world.webhooks.dropped(this.#key.owned, 1)
    this.#end(update, 'given up')
  }

  /** The attempt has ended already: an error here must not end it a second time. */
  #record(attempt: AttemptRecord, exchange: WebhookExchange | undefined) {
    try {
      this.#open().record(attempt, exchange)
    } catch (cause) {
      this.#defect(cause)
    }
  }

  #defect(err: unknown) {
    const { apiKeyId } = this.#key.owned
    this.#world.logger.error({ apiKeyId, err }, 'a webhook is in trouble')
  }

  #succeed(update: WebhookUpdate): undefined {
    this.#width *= 2
    this.#end(update, 'delivered')
    if (this.#flow !== 'open') this.#machine.tell({ type: 'endpoint.answered' })
  }

  /** Returns the time of the next attempt. */
  #fail(
    update: WebhookUpdate,
    { status, retryAfterMs = 0 }: Attempt,
    isProbe: boolean,
  ): number | undefined {
    const { clock, webhooks } = this.#world
    const now = clock.now()
    const restMs = Math.min(retryAfterMs, LONGEST_REST_MS)
    const wait = (failures: number, forMs: number) =>
      Math.max(waitAfter({ failures, forMs }, Math.random()), restMs)
    const lane = this.#lanes.failed(update, now, wait, status === 410)
    if (this.#flow === 'open' && now - lane.since >= HOPELESS_MS) {
      webhooks.dropped(this.#key.owned, 1)
      this.#end(update, 'given up')
      return undefined
    }
    this.#end(update, 'failed')
    const isOfEndpoint = isProbe || (this.#flow === 'open' && this.#lanes.isDown)
    if (!isOfEndpoint) return lane.dueAt
    this.#machine.tell({
      type: 'endpoint.failed',
      trouble: { ...lane, goneSince: this.#lanes.goneSince },
      now,
      ...(isProbe && { probe: { chance: Math.random(), restMs } }),
    })
    return this.snapshot.context.trouble?.dueAt ?? lane.dueAt
  }

  #end(update: WebhookUpdate, how: 'delivered' | 'given up' | 'failed' | 'cut') {
    this.#inFlight--
    if (how === 'cut') this.#lanes.cut(update)
    else if (how === 'failed') this.#saver.touch()
    else {
      if (how === 'delivered') this.#lanes.succeeded(update, this.#world.clock.now())
      else this.#lanes.gaveUp(update)
      this.#feed.release(update)
      this.#reading.acknowledge(update)
      this.#saver.acknowledged()
    }
    if (this.#inFlight === 0) this.#ended?.()
    this.#pokeSoon()
  }

  /** Once for all attempts that end in the same turn. */
  #pokeSoon() {
    if (this.#isPoked) return
    this.#isPoked = true
    queueMicrotask(() => {
      this.#isPoked = false
      this.#activeAt = this.#world.clock.now()
      this.poke()
    })
  }

  #saved(cursor: number) {
    if (this.#moved) this.#moved.cursor = cursor
    else {
      const report = () => {
        const { cursor: newest } = this.#moved ?? { cursor }
        this.#moved = undefined
        this.#key.moved(newest)
      }
      this.#moved = { cursor, cancel: later(this.#world.clock, report, MOVED_LAG_MS) }
    }
    if (this.#reading.waiting === 0 && this.#feed.isCaughtUp) return
    // By turns: one statement stores hundreds of keys, and all of them may have waited for it.
    this.#world.turns.soon(() => this.poke())
  }

  /** Reading on finds new lanes; while all lanes of a dead endpoint fail, none is looked for. */
  get #wantsMore(): boolean {
    if (!this.#feed.canRead) return false
    if (this.#flow === 'closed') return !this.#lanes.isDoubted && this.#lanes.ready === 0
    return this.#room > this.#lanes.ready
  }
}

const host = new ActorHost<typeof webhookMachine, WebhookDelivery>({
  ended({ effects: delivery }, cause) {
    if (cause !== undefined) delivery.crashed(cause)
  },
  provide: (host) =>
    webhookMachine.provide({
      delays: jitteredCrashDelays,
      actions: {
        flow: ({ self }, flow) => host.effectsOf(self).setFlow(flow),
        note: ({ self, context: { trouble } }, state) =>
          host.effectsOf(self).note(trouble, state === 'suspended'),
        remind: ({ self }, at) => host.effectsOf(self).remind(at),
        notify: ({ self, context: { trouble } }, notice) => {
          if (notice && trouble) host.effectsOf(self).notify(notice, trouble.since)
        },
        turnOff: ({ self }) => host.effectsOf(self).turnOff(),
      },
    }),
})
