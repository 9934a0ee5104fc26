/** Hosts all actors of one kind, which share one machine with its effects, and keeps those that crashed from beginning again too early. */
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
import { RequestFailed } from '../../machines/model/failure.ts'
import { type Failure, type Reply, refused } from '../../machines/model/protocol.ts'
import {
  type Down,
  downFailure,
  restAfter,
  supervisionMachine,
} from '../../machines/supervision/machine.ts'
import type { Clock } from '../ports/ports.ts'
import type { HostedActor, Hosting } from './actor.ts'
import { lean } from './steps.ts'
import { jittered, Timers } from './time.ts'

interface HostOptions<
  Machine extends AnyStateMachine,
  Effects,
  Hosted extends HostedActor<Machine, Effects>,
> {
  /** Fills the places that the machine leaves open. Called once: a copy of the machine weighs ten times an actor. */
  provide(host: ActorHost<Machine, Effects, Hosted>): Machine
  /**
   * Has all actors with one clock share one system, as children of one parent. That halves the memory of an actor, and what
   * its steps take. `inspected`: XState tells what each of them does, and then takes all of its own steps.
   */
  readonly shared?: 'plain' | 'inspected'
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
  readonly inspect?: ((inspection: Inspected) => void) | undefined
  /** The actor has a new snapshot. */
  readonly changed?: (() => void) | undefined
}

/** An actor of a host has a new snapshot, after this event. */
export type Inspected = Extract<InspectionEvent, { type: '@xstate.snapshot' }>

/**
 * What an actor of a shared system has of these once it has started: nobody observes it, and of each its own would be a
 * sixth of what it takes.
 */
const unobserved = { observers: new Set(), eventListeners: new Map(), options: {} }

interface Resident<Hosted> extends Pick<ActorOptions<never>, 'inspect' | 'changed'> {
  readonly actor: Hosted
  /** The running services, and how to end each; absent until the first one, since most actors never run any. */
  services?: Map<AnyActorRef, () => void>
  /** Who watches it has thrown; it is about to end. */
  watchFailed?: { readonly cause: unknown }
}

export class ActorHost<
  Machine extends AnyStateMachine,
  Effects,
  Hosted extends HostedActor<Machine, Effects> = HostedActor<Machine, Effects>,
> implements Hosting<Machine>
{
  readonly #options: HostOptions<Machine, Effects, Hosted>
  readonly #logic: Machine
  /** Of shared systems. A process has one clock. */
  readonly #parents = new Map<Clock, AnyActorRef>()
  readonly #residents = new Map<string, Resident<Hosted>>()
  #begun = 0

  constructor(options: HostOptions<Machine, Effects, Hosted>) {
    this.#options = options
    this.#logic = lean(options.provide(this), { isInspected: options.shared !== 'plain' })
  }

  begin(
    { input, clock, inspect, changed }: ActorOptions<Machine>,
    create: (ref: Actor<Machine>) => Hosted,
  ): Hosted {
    const id = String(++this.#begun)
    const parent = this.#options.shared && this.#parentOf(clock)
    const options = { id, input, ...(parent ? { parent } : { clock }) }
    const ref = createActor(this.#logic, options as never)
    const actor = create(ref)
    const isWatched = inspect !== undefined || changed !== undefined
    this.#residents.set(id, isWatched ? { actor, inspect, changed } : { actor })
    if (!parent) {
      if (isWatched) ref.system.inspect((inspection) => this.#inspected(inspection))
      ref.subscribe({
        // XState rethrows a crash that has no observer, which would end the process.
        error: (cause: unknown) => this.#end(id, cause),
        complete: () => this.#end(id, undefined),
      })
    }
    ref.start()
    if (parent) Object.assign(ref, unobserved)
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
    if (!ref._parent) {
      ref.stop()
      return
    }
    ref._parent.send({ type: 'child.stop', child: ref } satisfies StopChild)
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
      resident.services ??= new Map()
      const { actor, services } = resident
      const stop = start(actor.effects, sendBack)
      const end = () => {
        if (services.delete(self)) stop()
      }
      services.set(self, end)
      return end
    })
  }

  #find(id: string): Resident<Hosted> {
    const resident = this.#residents.get(id)
    if (!resident) throw new Error(`no actor lives as ${id}`)
    return resident
  }

  #end(id: string, crash: unknown): void {
    const resident = this.#residents.get(id)
    if (!resident) return
    this.#residents.delete(id)
    const { actor, services = [], watchFailed } = resident
    const cause = crash ?? watchFailed?.cause
    try {
      // XState ends services when their state is left. A crash leaves no state, and they would stay in the system.
      for (const [service, end] of [...services]) {
        end()
        service.send(STOP)
      }
      this.#options.ended?.(actor, cause)
    } finally {
      actor.end(cause)
    }
  }

  /** XState tells of everything in a system, also of the services of its actors. */
  #inspected(inspection: InspectionEvent): void {
    if (inspection.type !== '@xstate.snapshot') return
    const { snapshot } = inspection
    const { id, logic } = inspection.actorRef as Actor<Machine>
    const resident = logic === this.#logic && this.#residents.get(id)
    if (!resident || snapshot.status === 'error') return
    try {
      resident.changed?.()
      resident.inspect?.(inspection)
    } catch (cause) {
      // Within XState it would end the system, and with it all actors that share it.
      resident.watchFailed = { cause }
      queueMicrotask(() => this.stop(inspection.actorRef as Actor<Machine>))
    }
  }

  #parentOf(clock: Clock): AnyActorRef {
    const parent = this.#parents.get(clock) ?? this.#createParent(clock)
    this.#parents.set(clock, parent)
    return parent
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
    if (this.#options.shared === 'inspected') {
      parent.system.inspect((inspection) => this.#inspected(inspection))
    }
    parent.system.scheduler = new Timers(clock)
    return parent.start()
  }
}

/** By this event XState stops a child itself. */
const STOP = { type: 'xstate.stop' }

interface StopChild {
  readonly type: 'child.stop'
  readonly child: AnyActorRef
}

type ParentEvent = StopChild | ErrorActorEvent | DoneActorEvent

/** Credentials and webhook deliveries use these delays, too. */
export const jitteredCrashDelays = {
  crashRest: ({ context }: { context: { readonly crashes: readonly number[] } }) =>
    jittered(restAfter(context.crashes)),
  tryAgain: () => jittered(300_000),
}

const supervision = supervisionMachine.provide({ delays: jitteredCrashDelays })

interface SupervisionOptions {
  /** Names the kind of actor in metrics and answers. */
  readonly kind: string
  readonly clock: Clock
  onCrash?(kind: string): void
}

export class Supervision<Id> {
  readonly #options: SupervisionOptions
  /** Only of actors that crashed lately. */
  readonly #crashed = new Map<Id, Actor<typeof supervision>>()

  constructor(options: SupervisionOptions) {
    this.#options = options
  }

  crashed(id: Id): void {
    const { kind, clock, onCrash } = this.#options
    onCrash?.(kind)
    let supervised = this.#crashed.get(id)
    if (!supervised) {
      supervised = createActor(supervision, { clock })
      this.#crashed.set(id, supervised)
      supervised.subscribe({ complete: () => this.#crashed.delete(id) })
      supervised.start()
    }
    supervised.send({ type: 'actor.crashed', at: clock.now() })
  }

  /** Undefined for an actor that runs, or may begin. */
  stateOf(id: Id): Down | undefined {
    const value = this.#crashed.get(id)?.getSnapshot().value
    return value === 'crashed' || value === 'failed' ? value : undefined
  }

  /** Throws `RequestFailed` while the actor may not begin. */
  assertMayBegin(id: Id): void {
    const down = this.stateOf(id)
    if (down) throw new RequestFailed(downFailure(this.#options.kind, down))
  }

  stop(): void {
    for (const supervised of [...this.#crashed.values()]) supervised.stop()
  }
}
