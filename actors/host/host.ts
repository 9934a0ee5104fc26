/** Hosts all actors of one kind: they share one machine with its effects, and each has effects of its own. */
import {
  type Actor,
  type AnyActorRef,
  type AnyStateMachine,
  type CallbackActorLogic,
  createActor,
  type DoneActorEvent,
  type ErrorActorEvent,
  type EventFromLogic,
  type EventObject,
  fromCallback,
  fromTransition,
  type InputFrom,
  type InspectionEvent,
} from 'xstate'
import { type Failure, type Reply, refused } from '../../machines/model/protocol.ts'
import type { Clock } from '../ports/ports.ts'
import type { HostedActor, Hosting } from './actor.ts'
import { Timers } from './timers.ts'

interface HostOptions<
  Machine extends AnyStateMachine,
  Effects,
  Hosted extends HostedActor<Machine, Effects>,
> {
  /** Fills the places that the machine leaves open. Called once: a copy of the machine weighs ten times an actor. */
  provide(host: ActorHost<Machine, Effects, Hosted>): Machine
  /**
   * Has all actors share one system, as children of one parent, with the timers of this clock. That halves the memory
   * of a small actor; but none of them can be inspected.
   */
  readonly sharedClock?: Clock
  /** Called once for each actor that has ended; a `cause` means that it crashed. */
  ended?(actor: Hosted, cause: unknown): void
  /** Every reply waits for this, so that it is stored before it is given. A failure replaces the reply. */
  before?(effects: Effects): Promise<Failure | undefined>
  /** The reply to a command whose actor ends first; undefined for a command that may simply be given again. */
  cutShort?(event: EventFromLogic<Machine>): Reply | undefined
  /** Defaults to a UUID: networks may show the id to others, so it has to be unique everywhere. */
  newRequestId?(): string
}

interface ActorOptions<Machine extends AnyStateMachine> {
  readonly input: InputFrom<Machine>
  readonly clock: Clock
  inspect?(inspection: InspectionEvent): void
  /** The actor has a new snapshot. */
  changed?(): void
}

interface Resident<Hosted> {
  readonly actor: Hosted
  /** How to end the services that run. Most actors of some kinds never run any. */
  services?: Set<() => void>
}

export class ActorHost<
  Machine extends AnyStateMachine,
  Effects,
  Hosted extends HostedActor<Machine, Effects> = HostedActor<Machine, Effects>,
> implements Hosting<Machine>
{
  readonly #options: HostOptions<Machine, Effects, Hosted>
  readonly #logic: Machine
  readonly #parent: AnyActorRef | undefined
  readonly #residents = new Map<string, Resident<Hosted>>()
  #begun = 0

  constructor(options: HostOptions<Machine, Effects, Hosted>) {
    this.#options = options
    this.#logic = options.provide(this)
    if (options.sharedClock) this.#parent = this.#createParent(options.sharedClock)
  }

  begin(
    { input, clock, inspect, changed }: ActorOptions<Machine>,
    create: (ref: Actor<Machine>) => Hosted,
  ): Hosted {
    const id = String(++this.#begun)
    const parent = this.#parent
    const own = { clock, ...(inspect && { inspect }) }
    const options = { id, input, ...(parent ? { parent } : own) }
    const ref = createActor(this.#logic, options as never)
    const actor = create(ref)
    this.#residents.set(id, { actor })
    if (!parent) {
      ref.subscribe({
        ...(changed && { next: changed }),
        // XState rethrows a crash that has no observer, which would end the process.
        error: (cause: unknown) => this.#end(id, cause),
        complete: () => this.#end(id, undefined),
      })
    }
    ref.start()
    return actor
  }

  *live(): IterableIterator<Hosted> {
    for (const { actor } of this.#residents.values()) yield actor
  }

  newRequestId(): string {
    return this.#options.newRequestId?.() ?? crypto.randomUUID()
  }

  cutShort(event: EventFromLogic<Machine>): Reply | undefined {
    return this.#options.cutShort?.(event)
  }

  stop(ref: Actor<Machine>): void {
    if (!this.#parent) {
      ref.stop()
      return
    }
    this.#parent.send({ type: 'child.stop', child: ref } satisfies StopChild)
    this.#end(ref.id, undefined)
  }

  /** The effects of the actor that an action or a delay runs for. */
  effectsOf(ref: Pick<AnyActorRef, 'id'>): Effects {
    return this.#find(ref.id).actor.effects
  }

  /** The `reply` action of every machine. */
  readonly reply = ({ self }: { self: Pick<AnyActorRef, 'id'> }, reply: Reply): void => {
    const { actor } = this.#find(self.id)
    const failure = this.#options.before?.(actor.effects)
    if (!failure) actor.settle(reply)
    else void failure.then((cause) => actor.settle(cause ? refused(reply, cause) : reply))
  }

  /** An effect that lives as long as a state; `start` returns how to end it, which is called once. */
  service(
    start: (effects: Effects, send: (event: EventObject) => void) => () => void,
  ): CallbackActorLogic<EventObject, undefined> {
    return fromCallback<EventObject, undefined>(({ self, sendBack }) => {
      const resident = this.#find(self._parent?.id ?? '')
      resident.services ??= new Set()
      const { actor, services } = resident
      const stop = start(actor.effects, sendBack)
      const end = () => {
        if (services.delete(end)) stop()
      }
      services.add(end)
      return end
    })
  }

  #find(id: string): Resident<Hosted> {
    const resident = this.#residents.get(id)
    if (!resident) throw new Error(`no actor lives as ${id}`)
    return resident
  }

  #end(id: string, cause: unknown): void {
    const resident = this.#residents.get(id)
    if (!resident) return
    this.#residents.delete(id)
    const { actor, services = [] } = resident
    try {
      // XState ends services when their state is left; a crash leaves no state.
      for (const end of [...services]) end()
      this.#options.ended?.(actor, cause)
    } finally {
      actor.end(cause)
    }
  }

  #createParent(clock: Clock): AnyActorRef {
    // It has no state of its own. XState sends it the ends of its children.
    const logic = fromTransition((nothing: undefined, event: ParentEvent, { stopChild }) => {
      if (event.type === 'child.stop') stopChild(event.child)
      // In a microtask: an error in there would crash the parent, and all its children with it.
      else
        queueMicrotask(() => this.#end(event.actorId, 'error' in event ? event.error : undefined))
      return nothing
    }, undefined)
    const parent = createActor(logic)
    parent.system.scheduler = new Timers(clock)
    return parent.start()
  }
}

interface StopChild {
  readonly type: 'child.stop'
  readonly child: AnyActorRef
}

type ParentEvent = StopChild | ErrorActorEvent | DoneActorEvent
