/** One live actor, and the callers still waiting for its replies. */
import type { Subscription } from 'xstate'
import { type Outcome, type Reply, refused } from '../machines/protocol.ts'
import { failed, RequestFailed } from './errors.ts'

/** What one actor answers at the same time; a bound for memory, far above what its callers are held to. */
const CAPACITY = 5_000

const gone = (requestId: string) =>
  refused(
    { requestId },
    {
      code: 'unavailable',
      description: 'the actor stopped before it replied',
      retryAfterSeconds: 1,
    },
  )

type Unsent<Event> = Event extends { requestId: string } ? Omit<Event, 'requestId'> : never

/** The part of an XState actor that `ask` needs. */
export interface Askable<Event, Snapshot extends { status: string }> {
  start(): unknown
  stop(): unknown
  send(event: Event): void
  on(type: 'reply', listener: (reply: Reply) => void): Subscription
  subscribe(observer: { error(cause: unknown): void; complete(): void }): Subscription
  getSnapshot(): Snapshot
}

export class Activation<Event, Snapshot extends { status: string } = { status: string }> {
  readonly #actor: Askable<Event, Snapshot>
  readonly #now: () => number
  readonly #waiting = new Map<string, (reply: Reply) => void>()
  readonly #closed = Promise.withResolvers<unknown>()
  #usedAt: number

  /** A reply waits for `before`: what it says must be stored first. */
  constructor(actor: Askable<Event, Snapshot>, now: () => number, before?: () => Promise<unknown>) {
    this.#actor = actor
    this.#now = now
    this.#usedAt = now()
    const settle = (reply: Reply) => this.#waiting.get(reply.requestId)?.(reply)
    actor.on('reply', before ? (reply) => before().then(() => settle(reply)) : settle)
    // Without an error observer XState rethrows a crash globally and takes the process down.
    actor.subscribe({ error: (cause) => this.#close(cause), complete: () => this.#close() })
    actor.start()
  }

  /** Sends a command; resolves with the actor's result or rejects with `RequestFailed`. */
  async ask<Result = unknown>(command: Unsent<Event>, signal?: AbortSignal): Promise<Result> {
    const outcome = await this.#exchange(command, signal)
    if (outcome.ok) return outcome.result as Result
    throw new RequestFailed(outcome.failure)
  }

  #exchange(command: Unsent<Event>, signal?: AbortSignal): Promise<Outcome> {
    this.#usedAt = this.#now()
    if (this.#waiting.size >= CAPACITY) {
      throw failed('rate_limited', '', { retryAfterSeconds: 1 })
    }
    const requestId = crypto.randomUUID()
    return new Promise((resolve, reject) => {
      const settle = (reply: Reply) => {
        this.#waiting.delete(requestId)
        signal?.removeEventListener('abort', abandon)
        resolve(reply.outcome)
      }
      const abandon = () => {
        this.#waiting.delete(requestId)
        if (this.isActive) this.tell({ type: 'request.abandoned', requestId } as Event)
        reject(failed('timeout', 'the request took too long', { certain: false }))
      }
      if (signal?.aborted) return abandon()
      signal?.addEventListener('abort', abandon, { once: true })
      // A stopped actor would drop the command without a word.
      if (!this.isActive) return settle(gone(requestId))
      this.#waiting.set(requestId, settle)
      this.tell({ ...command, requestId } as Event)
    })
  }

  /** Sends an event that nobody waits for. */
  tell(event: Event): void {
    this.#actor.send(event)
  }

  get snapshot(): Snapshot {
    return this.#actor.getSnapshot()
  }

  get isActive(): boolean {
    return this.#actor.getSnapshot().status === 'active'
  }

  /** Resolves once the actor has ended: with the cause if it crashed, else with nothing. */
  get closed(): Promise<unknown> {
    return this.#closed.promise
  }

  isIdle(forMilliseconds: number): boolean {
    return this.#waiting.size === 0 && this.#now() - this.#usedAt >= forMilliseconds
  }

  stop(): void {
    this.#actor.stop()
  }

  #close(cause?: unknown) {
    for (const [requestId, settle] of [...this.#waiting]) settle(gone(requestId))
    this.#closed.resolve(cause)
  }
}
