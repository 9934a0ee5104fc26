/** Hosted actors, which give each command exactly one reply even if they end, and the registry that finds them. */

import type {
  Actor,
  AnyMachineSnapshot,
  AnyStateMachine,
  EventFromLogic,
  SnapshotFrom,
} from 'xstate'
import { failed, type RequestFailed, thrownAs } from '../../machines/model/failure.ts'
import type { Command, Outcome, Reply } from '../../machines/model/protocol.ts'
import type { Down } from '../../machines/supervision/machine.ts'
import type { Clock } from '../ports/ports.ts'

/** Commands that one actor may have under way; it bounds memory, and is far above the limits of its callers. */
const CAPACITY = 5_000

const gone = () =>
  failed('unavailable', 'the actor stopped before it replied', { retryAfterSeconds: 1 })

const tooLong = () => failed('timeout', 'the request took too long', { certain: false })

type Unsent<Event> = Event extends { requestId: string } ? Omit<Event, 'requestId'> : never

/** An object: a function of its own for each caller takes more memory. */
export interface AbortListener {
  handleEvent(): void
}

/** Signals once that the caller has left: an `AbortSignal`, or something that takes less memory. */
export interface AbortLike {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: AbortListener): void
  removeEventListener(type: 'abort', listener: AbortListener): void
}

interface Asking {
  readonly requestId: string
  /** The reply if the actor ends before it gives one. */
  readonly cutShort: Reply | undefined
  readonly signal: AbortLike | undefined
  readonly actor: { abandon(requestId: string): void }
}

class Caller implements AbortListener {
  readonly requestId: string
  readonly cutShort: Reply | undefined
  readonly resolve: (result: unknown) => void
  readonly reject: (cause: unknown) => void
  readonly #signal: AbortLike | undefined
  readonly #actor: Asking['actor']

  constructor(
    { requestId, cutShort, signal, actor }: Asking,
    { resolve, reject }: PromiseWithResolvers<unknown>,
  ) {
    this.requestId = requestId
    this.cutShort = cutShort
    this.resolve = resolve
    this.reject = reject
    this.#signal = signal
    this.#actor = actor
    signal?.addEventListener('abort', this)
  }

  handleEvent(): void {
    this.#actor.abandon(this.requestId)
  }

  /** It has its answer. */
  forgetSignal(): void {
    this.#signal?.removeEventListener('abort', this)
  }
}

/** Callers that wait for replies. An actor has mostly one, and there may be many thousands of actors. */
class Callers {
  #one: Caller | undefined
  #more: Map<string, Caller> | undefined

  get size(): number {
    return (this.#one ? 1 : 0) + (this.#more?.size ?? 0)
  }

  add(caller: Caller): void {
    if (!this.#one) {
      this.#one = caller
      return
    }
    this.#more ??= new Map()
    this.#more.set(caller.requestId, caller)
  }

  take(requestId: string): Caller | undefined {
    let caller = this.#one
    if (caller?.requestId === requestId) {
      this.#one = undefined
      return caller
    }
    caller = this.#more?.get(requestId)
    this.#more?.delete(requestId)
    if (this.#more?.size === 0) this.#more = undefined
    return caller
  }

  all(): readonly Caller[] {
    return [...(this.#one ? [this.#one] : []), ...(this.#more?.values() ?? [])]
  }
}

/** The services that an actor needs from its host. */
export interface Hosting<Machine extends AnyStateMachine> {
  newRequestId(): string
  cutShort(event: EventFromLogic<Machine>): Reply | undefined
  stop(ref: Actor<Machine>): void
}

export class HostedActor<Machine extends AnyStateMachine, Effects> {
  /** The effects of this actor in the world. */
  readonly effects: Effects
  readonly #ref: Actor<Machine>
  readonly #clock: Pick<Clock, 'now'>
  readonly #host: Hosting<Machine>
  readonly #waiting = new Callers()
  #closed: PromiseWithResolvers<unknown> | undefined
  #end: { readonly cause: unknown } | undefined
  #onEnd: OnEnd | undefined
  #why: RequestFailed | undefined
  #usedAt: number

  constructor(
    ref: Actor<Machine>,
    effects: Effects,
    clock: Pick<Clock, 'now'>,
    host: Hosting<Machine>,
  ) {
    this.effects = effects
    this.#ref = ref
    this.#clock = clock
    this.#host = host
    this.#usedAt = clock.now()
  }

  get snapshot(): SnapshotFrom<Machine> {
    return this.#ref.getSnapshot()
  }

  get isActive(): boolean {
    return (this.#ref.getSnapshot() as AnyMachineSnapshot).status === 'active'
  }

  /** Sends an event that has no reply. */
  tell(event: EventFromLogic<Machine>): void {
    this.#ref.send(event)
  }

  /**
   * Sends a command; resolves with the actor's result or rejects with `RequestFailed`. Once `signal` is aborted, it
   * rejects with an uncertain `timeout`, and the machine gets `request.abandoned`.
   */
  ask<Result = unknown>(
    command: Unsent<EventFromLogic<Machine>>,
    signal?: AbortLike,
  ): Promise<Result> {
    return this.#begin(command, signal, (event) => this.tell(event))
  }

  /**
   * The same for a command about which the machine decides nothing in its state: `carryOut` does it, and the machine does
   * not see it.
   */
  askDirectly<Result = unknown>(
    command: Unsent<EventFromLogic<Machine>>,
    carryOut: (event: EventFromLogic<Machine>) => Promise<Outcome>,
  ): Promise<Result> {
    return this.#begin(command, undefined, (event) => {
      const { requestId } = event as Command
      carryOut(event).then(
        (outcome) => this.settle({ type: 'reply', requestId, outcome }),
        (cause) => this.#dismiss(requestId)?.reject(cause),
      )
    })
  }

  #begin<Result>(
    command: Unsent<EventFromLogic<Machine>>,
    signal: AbortLike | undefined,
    carryOut: (event: EventFromLogic<Machine>) => void,
  ): Promise<Result> {
    this.noteUse()
    if (this.#waiting.size >= CAPACITY) {
      return Promise.reject(failed('rate_limited', '', { retryAfterSeconds: 1 }))
    }
    if (signal?.aborted) return Promise.reject(tooLong())
    const requestId = this.#host.newRequestId()
    const event = { ...command, requestId } as unknown as EventFromLogic<Machine>
    const answer = Promise.withResolvers<unknown>()
    const cutShort = this.#host.cutShort(event)
    this.#waiting.add(new Caller({ requestId, cutShort, signal, actor: this }, answer))
    // A stopped actor drops events without an error.
    if (this.isActive) carryOut(event)
    else this.#refuse(requestId)
    return answer.promise as Promise<Result>
  }

  /** Resolves once the actor has ended: with the cause if it crashed, else with undefined. */
  get closed(): Promise<unknown> {
    this.#closed ??= Promise.withResolvers()
    if (this.#end) this.#closed.resolve(this.#end.cause)
    return this.#closed.promise
  }

  /** Calls back once the actor has ended. It takes less memory than `closed`, which counts for thousands of actors. */
  onEnd(listener: OnEnd): void {
    if (this.#end) {
      listener(this.#end.cause)
      return
    }
    this.#onEnd = this.#onEnd ? callBoth(this.#onEnd, listener) : listener
  }

  isIdle(forMilliseconds: number): boolean {
    return this.#waiting.size === 0 && this.#clock.now() - this.#usedAt >= forMilliseconds
  }

  /** Something other than a command was asked of it: it is not idle. */
  noteUse(): void {
    this.#usedAt = this.#clock.now()
  }

  /** `why`: what the callers get whose commands nothing was done for. */
  stop(why?: RequestFailed): void {
    if (this.#end) return
    this.#why = why
    this.#host.stop(this.#ref)
  }

  /** For the host: a reply of the machine. A second reply to the same command is dropped. */
  settle({ requestId, outcome }: Reply): void {
    const caller = this.#dismiss(requestId)
    if (outcome.ok) caller?.resolve(outcome.result)
    else caller?.reject(thrownAs(outcome.failure))
  }

  /** For the host: the actor has ended. Answers every command that is still under way. */
  end(cause: unknown): void {
    for (const { requestId, cutShort } of this.#waiting.all()) {
      if (cutShort) this.settle(cutShort)
      else this.#refuse(requestId)
    }
    this.#end = { cause }
    this.#closed?.resolve(cause)
    this.#onEnd?.(cause)
  }

  #refuse(requestId: string): void {
    this.#dismiss(requestId)?.reject(this.#why ?? gone())
  }

  /** For a caller: it has left. */
  abandon(requestId: string): void {
    const caller = this.#dismiss(requestId)
    if (this.isActive) {
      this.tell({ type: 'request.abandoned', requestId } as unknown as EventFromLogic<Machine>)
    }
    caller?.reject(tooLong())
  }

  #dismiss(requestId: string): Caller | undefined {
    const caller = this.#waiting.take(requestId)
    caller?.forgetSignal()
    return caller
  }
}

type OnEnd = (cause: unknown) => void

const callBoth =
  (first: OnEnd, second: OnEnd): OnEnd =>
  (cause) => {
    first(cause)
    second(cause)
  }

interface Registered {
  readonly closed: Promise<unknown>
  readonly isActive?: boolean
  onEnd(listener: OnEnd): void
  isIdle(forMilliseconds: number): boolean
  stop(): void
}

/** Keeps actors that crashed from beginning again too early. */
interface Supervising<Id> {
  crashed(id: Id): void
  stateOf(id: Id): Down | undefined
  assertMayBegin(id: Id): void
  stop(): void
}

/** Finds live actors by their ids: begun on first use, stopped when idle, forgotten once they have ended. */
export class ActorRegistry<Id, Actor extends Registered> {
  readonly #begin: (id: Id) => Promise<Actor>
  readonly #supervision: Supervising<Id> | undefined
  readonly #beginning = new Map<Id, Promise<Actor>>()
  readonly #live = new Map<Id, Actor>()
  #isStopped = false

  /** `begin` may reject: all callers of that moment get the error, and the next one tries again. */
  constructor(begin: (id: Id) => Promise<Actor>, supervision?: Supervising<Id>) {
    this.#begin = begin
    this.#supervision = supervision
  }

  /**
   * Concurrent callers of one id share one beginning. Rejects with `unavailable` while the actor rests after a crash, and
   * once the registry is stopped.
   */
  async find(id: Id): Promise<Actor> {
    return this.#live.get(id) ?? this.#beginning.get(id) ?? this.#beginOnce(id)
  }

  /** The actor if it lives now. */
  peek(id: Id): Actor | undefined {
    return this.#live.get(id)
  }

  /** The actor if it lives now or is about to begin. */
  async awake(id: Id): Promise<Actor | undefined> {
    return this.#live.get(id) ?? this.#beginning.get(id)?.catch(() => undefined)
  }

  /** Which state of its supervision keeps the actor from beginning; undefined where nothing does. */
  downOf(id: Id): Down | undefined {
    return this.#supervision?.stateOf(id)
  }

  get size(): number {
    return this.#live.size
  }

  live(): IterableIterator<[Id, Actor]> {
    return this.#live.entries()
  }

  passivate(idleMilliseconds: number): void {
    for (const actor of this.#live.values()) if (actor.isIdle(idleMilliseconds)) actor.stop()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.allSettled(this.#beginning.values())
    this.#supervision?.stop()
    const live = [...this.#live.values()]
    for (const actor of live) actor.stop()
    await Promise.all(live.map((actor) => actor.closed))
  }

  #beginOnce(id: Id): Promise<Actor> {
    // An actor that begins after the stop would never be stopped.
    if (this.#isStopped) {
      throw failed('unavailable', 'the service is going down', {
        reason: 'going_down',
        retryAfterSeconds: 1,
      })
    }
    this.#supervision?.assertMayBegin(id)
    const beginning = this.#begin(id).then((actor) => {
      if (actor.isActive !== false) this.#live.set(id, actor)
      this.#watch(id, actor)
      return actor
    })
    this.#beginning.set(id, beginning)
    const settled = () => this.#beginning.delete(id)
    beginning.then(settled, settled)
    return beginning
  }

  #watch(id: Id, actor: Actor): void {
    actor.onEnd((cause) => this.#ended(id, actor, cause))
  }

  #ended(id: Id, actor: Actor, cause: unknown): void {
    if (this.#live.get(id) === actor) this.#live.delete(id)
    if (cause !== undefined) this.#supervision?.crashed(id)
  }
}
