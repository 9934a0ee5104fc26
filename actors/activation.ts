/** One live actor, and the callers still waiting for its replies. */
import type { Subscription } from 'xstate'
import { type Failure, type Reply, refused } from '../machines/protocol.ts'
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

/** Tells once that whoever asked has left: an `AbortSignal`, or something leaner. */
export interface Leaving {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

interface ActivationOptions {
  /** A reply waits for it: what it says must be stored first. A failure of that is what is replied. */
  readonly before?: () => Promise<Failure | undefined>
  /** Called once the actor has ended, however it did. */
  readonly onClosed?: () => void
}

export class Activation<Event, Snapshot extends { status: string } = { status: string }> {
  readonly #actor: Askable<Event, Snapshot>
  readonly #now: () => number
  readonly #waiting = new Map<string, (reply: Reply) => void>()
  readonly #onClosed: (() => void) | undefined
  readonly #closed: Promise<unknown>
  #resolveClosed!: (cause: unknown) => void
  #usedAt: number

  constructor(
    actor: Askable<Event, Snapshot>,
    now: () => number,
    { before, onClosed }: ActivationOptions = {},
  ) {
    this.#actor = actor
    this.#now = now
    this.#usedAt = now()
    this.#onClosed = onClosed
    this.#closed = new Promise((resolve) => {
      this.#resolveClosed = resolve
    })
    const settle = (reply: Reply) => this.#waiting.get(reply.requestId)?.(reply)
    actor.on(
      'reply',
      before
        ? (reply) => before().then((failure) => settle(failure ? refused(reply, failure) : reply))
        : settle,
    )
    // Without an error observer XState rethrows a crash globally and takes the process down.
    actor.subscribe({ error: (cause) => this.#close(cause), complete: () => this.#close() })
    actor.start()
  }

  /** Sends a command; resolves with the actor's result or rejects with `RequestFailed`. */
  ask<Result = unknown>(command: Unsent<Event>, leaving?: Leaving): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#usedAt = this.#now()
      if (this.#waiting.size >= CAPACITY) {
        throw failed('rate_limited', '', { retryAfterSeconds: 1 })
      }
      const requestId = this.newRequestId()
      const settle = ({ outcome }: Reply) => {
        this.#waiting.delete(requestId)
        leaving?.removeEventListener('abort', abandon)
        if (outcome.ok) resolve(outcome.result as Result)
        else reject(new RequestFailed(outcome.failure))
      }
      const abandon = () => {
        this.#waiting.delete(requestId)
        if (this.isActive) this.tell({ type: 'request.abandoned', requestId } as Event)
        reject(failed('timeout', 'the request took too long', { certain: false }))
      }
      if (leaving?.aborted) return abandon()
      leaving?.addEventListener('abort', abandon)
      // A stopped actor would drop the command without a word.
      if (!this.isActive) return settle(gone(requestId))
      this.#waiting.set(requestId, settle)
      this.tell({ ...command, requestId } as Event)
    })
  }

  /** Networks may show it to others, so that it has to be one of a kind everywhere. */
  protected newRequestId(): string {
    return crypto.randomUUID()
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
    return this.#closed
  }

  isIdle(forMilliseconds: number): boolean {
    return this.#waiting.size === 0 && this.#now() - this.#usedAt >= forMilliseconds
  }

  stop(): void {
    this.#actor.stop()
  }

  #close(cause?: unknown) {
    for (const [requestId, settle] of [...this.#waiting]) settle(gone(requestId))
    this.#onClosed?.()
    this.#resolveClosed(cause)
  }
}
