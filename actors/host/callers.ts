/** Whoever waits for an actor's replies: whatever happens to the actor, each command gets exactly one. */

import { failed, RequestFailed } from '../../machines/model/failure.ts'
import { type Reply, refused } from '../../machines/model/protocol.ts'

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

/** Tells once that whoever asked has left: an `AbortSignal`, or something leaner. */
export interface Leaving {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

interface Caller {
  resolve(result: unknown): void
  reject(cause: unknown): void
  readonly leaving: Leaving | undefined
  readonly leave: (() => void) | undefined
}

export abstract class Callers<Event> {
  readonly #now: () => number
  readonly #waiting = new Map<string, Caller>()
  #closed: PromiseWithResolvers<unknown> | undefined
  #end: { readonly cause: unknown } | undefined
  #usedAt: number

  constructor(now: () => number) {
    this.#now = now
    this.#usedAt = now()
  }

  abstract get isActive(): boolean

  /** Sends an event that nobody waits for. */
  abstract tell(event: Event): void

  /** Sends a command; resolves with the actor's result or rejects with `RequestFailed`. */
  ask<Result = unknown>(command: Unsent<Event>, leaving?: Leaving): Promise<Result> {
    this.#usedAt = this.#now()
    if (this.#waiting.size >= CAPACITY) {
      return Promise.reject(failed('rate_limited', '', { retryAfterSeconds: 1 }))
    }
    if (leaving?.aborted) return Promise.reject(tooLong())
    const requestId = this.newRequestId()
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const leave = leaving && this.#leaver(requestId)
    if (leave) leaving?.addEventListener('abort', leave)
    this.#waiting.set(requestId, { resolve, reject, leaving, leave })
    // A stopped actor would drop the command without a word.
    if (this.isActive) this.tell({ ...command, requestId } as Event)
    else this.settle(gone(requestId))
    return promise as Promise<Result>
  }

  /** Resolves once the actor has ended: with the cause if it crashed, else with nothing. */
  get closed(): Promise<unknown> {
    this.#closed ??= Promise.withResolvers()
    if (this.#end) this.#closed.resolve(this.#end.cause)
    return this.#closed.promise
  }

  isIdle(forMilliseconds: number): boolean {
    return this.#waiting.size === 0 && this.#now() - this.#usedAt >= forMilliseconds
  }

  /** Networks may show it to others, so that it has to be one of a kind everywhere. */
  protected newRequestId(): string {
    return crypto.randomUUID()
  }

  /** Hands a reply of the actor to whoever asked. */
  settle({ requestId, outcome }: Reply): void {
    const caller = this.#dismiss(requestId)
    if (outcome.ok) caller?.resolve(outcome.result)
    else caller?.reject(new RequestFailed(outcome.failure))
  }

  /** To be called once the actor has ended, however it did. */
  end(cause?: unknown): void {
    for (const requestId of [...this.#waiting.keys()]) this.settle(gone(requestId))
    this.#end = { cause }
    this.#closed?.resolve(cause)
  }

  #leaver(requestId: string): () => void {
    return () => {
      const caller = this.#dismiss(requestId)
      if (this.isActive) this.tell({ type: 'request.abandoned', requestId } as Event)
      caller?.reject(tooLong())
    }
  }

  #dismiss(requestId: string): Caller | undefined {
    const caller = this.#waiting.get(requestId)
    this.#waiting.delete(requestId)
    if (caller?.leave) caller.leaving?.removeEventListener('abort', caller.leave)
    return caller
  }
}

const tooLong = () => failed('timeout', 'the request took too long', { certain: false })
