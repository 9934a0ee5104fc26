/** One live actor that is the root of its own system, and the callers still waiting for its replies. */
import type { Subscription } from 'xstate'
import { type Failure, type Reply, refused } from '../../machines/model/protocol.ts'
import { Callers } from './callers.ts'

/** The part of an XState actor that `ask` needs. */
export interface Askable<Event, Snapshot extends { status: string }> {
  start(): unknown
  stop(): unknown
  send(event: Event): void
  on(type: 'reply', listener: (reply: Reply) => void): Subscription
  subscribe(observer: { error(cause: unknown): void; complete(): void }): Subscription
  getSnapshot(): Snapshot
}

interface ActivationOptions<Event> {
  /** A reply waits for it: what it says must be stored first. A failure of that is what is replied. */
  readonly before?: () => Promise<Failure | undefined>
  /** What is replied to a command that the actor does not outlive; undefined where it can simply be given again. */
  readonly cutShort?: (event: Event) => Reply | undefined
}

export class Activation<
  Event,
  Snapshot extends { status: string } = { status: string },
> extends Callers<Event> {
  readonly #actor: Askable<Event, Snapshot>
  readonly #cutShort: ActivationOptions<Event>['cutShort']
  /** By the requests that are under way. */
  readonly #lastWords = new Map<string, Reply>()

  constructor(
    actor: Askable<Event, Snapshot>,
    now: () => number,
    { before, cutShort }: ActivationOptions<Event> = {},
  ) {
    super(now)
    this.#actor = actor
    this.#cutShort = cutShort
    const settle = (reply: Reply) => this.settle(reply)
    actor.on(
      'reply',
      before
        ? (reply) => before().then((failure) => settle(failure ? refused(reply, failure) : reply))
        : settle,
    )
    // Without an error observer XState rethrows a crash globally and takes the process down.
    actor.subscribe({ error: (cause) => this.end(cause), complete: () => this.end() })
    actor.start()
  }

  override tell(event: Event): void {
    const reply = this.#cutShort?.(event)
    if (reply) this.#lastWords.set(reply.requestId, reply)
    this.#actor.send(event)
  }

  override settle(reply: Reply): void {
    this.#lastWords.delete(reply.requestId)
    super.settle(reply)
  }

  override end(cause?: unknown): void {
    for (const reply of [...this.#lastWords.values()]) this.settle(reply)
    super.end(cause)
  }

  get snapshot(): Snapshot {
    return this.#actor.getSnapshot()
  }

  override get isActive(): boolean {
    return this.#actor.getSnapshot().status === 'active'
  }

  stop(): void {
    this.#actor.stop()
  }
}
