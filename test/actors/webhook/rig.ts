/** A webhook's delivery between a log that its test writes and an endpoint that its test plays. */
import { equal } from 'node:assert/strict'
import type { Test } from 'tap'
import { Turns } from '../../../actors/host/time.ts'
import type { UpdateLog } from '../../../actors/ports/ports.ts'
import type {
  Attempt,
  AttemptRecord,
  ReceivingKey,
  Webhooks,
  WebhookUpdate,
} from '../../../actors/ports/webhooks.ts'
import { WebhookDelivery } from '../../../actors/webhook/delivery.ts'
import type { Filter } from '../../../machines/model/update-kinds.ts'
import type { Notice } from '../../../machines/webhook/machine.ts'
import type { Progress } from '../../../machines/webhook/progress.ts'
import type { WebhookFacts, WebhookState } from '../../../machines/webhook/terms.ts'
import { settled, TestClock, thrown } from '../../support/clock.ts'
import { FakeLogger, FakeUpdateLog, only } from '../../support/fakes.ts'

export const webhookFacts = (more: Partial<WebhookFacts> = {}): WebhookFacts => ({
  url: 'https://bot.example/',
  ipAddress: undefined,
  maxConnections: 3,
  secretToken: undefined,
  certificate: undefined,
  trouble: undefined,
  suspended: false,
  progress: undefined,
  ...more,
})

export const ok: Attempt = {
  ok: true,
  status: 200,
  error: undefined,
  retryAfterMs: undefined,
  durationMs: 1,
}
export const failure = (status = 500, more: Partial<Attempt> = {}): Attempt => ({
  ...ok,
  ok: false,
  status,
  error: `${status}`,
  ...more,
})

export class WebhookRig implements ReceivingKey {
  readonly owned = { apiKeyId: 5, userId: 1, credentialId: 2, epoch: 1 }
  readonly filter: Filter = []
  readonly #test: Test
  readonly clock = new TestClock()
  readonly logger = new FakeLogger()
  /** In the order in which they were sent. */
  readonly sent: number[] = []
  readonly records: AttemptRecord[] = []
  readonly states: WebhookState[] = []
  /** What the owner was told, and how long after the first failure. */
  readonly told: { notice: Notice; afterMs: number }[] = []
  readonly reminders: number[] = []
  /** Updates that were counted as dropped. */
  dropped = 0
  /** Ids that the log has deleted. */
  readonly deleted = new Set<number>()
  readonly saved: Progress[] = []
  /** Of each of those, whether a crash of the database might forget it. */
  readonly rushed: boolean[] = []
  reads = 0
  inFlight = 0
  mostInFlight = 0
  isGone = false
  mayReceive = true
  /** How each attempt ends. */
  answer: (updateId: number) => Promise<Attempt> | Attempt = () => ok
  /** Whether acknowledgements get to the table. */
  onSave: () => Promise<void> = async () => undefined
  /** How long a write takes that has what it stores. */
  onSaved: () => Promise<void> = async () => undefined
  /** Whether the log can be read. */
  onRead: () => Promise<void> = async () => undefined
  readonly delivery: WebhookDelivery
  readonly #updates: WebhookUpdate[] = []
  readonly #listeners = new Set<() => void>()

  constructor(t: Test, facts: Partial<WebhookFacts> = {}, cursor = 100, turns?: Turns) {
    this.#test = t
    const listen: UpdateLog['listen'] = (_, after, notify) => this.#listen(after, notify)
    const world = {
      webhooks: this.#webhooks(t),
      updates: new FakeUpdateLog(t, { listen }).port,
      clock: this.clock,
      logger: this.logger,
      turns: turns ?? new Turns(this.clock, thrown),
    }
    const start = { facts: webhookFacts(facts), cursor, crashes: [] }
    this.delivery = new WebhookDelivery(this, world, start)
    t.teardown(async () => {
      const stopped = this.delivery.stop()
      // What is still held is cut after a while.
      await this.clock.advance(5_000)
      await stopped
      equal(this.#listeners.size, 0, 'somebody listens to the log of a delivery that has ended')
      equal(this.clock.timers, 0, 'a delivery that has ended waits for something')
    })
  }

  moved(): void {}

  gone(): void {
    this.isGone = true
  }

  crashed(cause: unknown): void {
    this.#test.fail('the delivery crashed', { cause })
  }

  /** The log has been there, and has deleted what it had. */
  skipTo(updateId: number): void {
    while (100 + this.#updates.length < updateId) {
      const deleted = 101 + this.#updates.length
      this.#updates.push({ updateId: deleted, lane: '', body: undefined, traceId: undefined })
      this.deleted.add(deleted)
    }
  }

  /** Commits one update for each lane that is named; resolves once what can be sent is sent. */
  async write(...lanes: readonly string[]): Promise<void> {
    for (const lane of lanes) {
      const updateId = 101 + this.#updates.length
      this.#updates.push({ updateId, lane, body: `{"update_id":${updateId}}`, traceId: undefined })
    }
    for (const notify of [...this.#listeners]) notify()
    await this.settle()
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await settled()
  }

  get state(): unknown {
    return this.delivery.snapshot.value
  }

  #listen(after: number, notify: () => void): () => void {
    if (after < 100 + this.#updates.length) queueMicrotask(notify)
    this.#listeners.add(notify)
    return () => this.#listeners.delete(notify)
  }

  #webhooks(t: Test): Webhooks {
    return only<Webhooks>(t, 'Webhooks', {
      open: () => ({
        deliver: async ({ updateId }, signal) => {
          this.sent.push(updateId)
          this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight)
          const cut = Promise.withResolvers<Attempt>()
          const leave = () => cut.resolve(failure(0))
          signal.addEventListener('abort', leave, { once: true })
          const attempt = await Promise.race([this.answer(updateId), cut.promise])
          // A delivery of days makes ten thousand of them.
          signal.removeEventListener('abort', leave)
          this.inFlight--
          return attempt
        },
        address: undefined,
        record: (attempt) => this.records.push(attempt),
        close: () => undefined,
      }),
      read: async (_, { after, limit }) => {
        this.reads++
        await this.onRead()
        const updates = this.#updates
          .filter(({ updateId }) => updateId > after && !this.deleted.has(updateId))
          .slice(0, limit)
        return { updates, head: updates.at(-1)?.updateId ?? after }
      },
      saveProgress: async (_, progress, isRushed) => {
        await this.onSave()
        this.saved.push(progress())
        this.rushed.push(isRushed)
        await this.onSaved()
      },
      saveState: (_, state) => this.states.push(state),
      notify: (_, notice, since) => {
        if (this.told.at(-1)?.notice === notice) return
        this.told.push({ notice, afterMs: this.clock.now() - since })
      },
      remind: (_, at) => this.reminders.push(at),
      dropped: (_, updates) => {
        this.dropped += updates
      },
    })
  }
}
