/** Hosts all actors of one kind: they share one machine with its effects, and each has effects of its own. */
import {
  type Actor,
  type AnyActorRef,
  type AnyEventObject,
  type AnyMachineSnapshot,
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

/** Timers fire late by less than this. */
const GRAIN_MS = 50

interface Timer {
  readonly id: string
  readonly due: number
  readonly source: AnyActorRef
  readonly target: AnyActorRef
  readonly event: AnyEventObject
}

interface Moment {
  readonly handle: unknown
  readonly timers: Set<Timer>
}

/**
 * The delayed events of actors that share one system: one timer of the clock for all that are due at about the same
 * time. XState's own scheduler looks through the timers of all actors whenever one of them stops.
 */
export class Timers {
  readonly #clock: Clock
  readonly #moments = new Map<number, Moment>()
  readonly #bySource = new Map<AnyActorRef, readonly Timer[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  schedule(
    source: AnyActorRef,
    target: AnyActorRef,
    event: AnyEventObject,
    delay: number,
    id: string = crypto.randomUUID(),
  ): void {
    const due = Math.ceil((this.#clock.now() + delay) / GRAIN_MS) * GRAIN_MS
    const timer = { id, due, source, target, event }
    this.#moment(due).timers.add(timer)
    const others = this.#bySource.get(source)
    // Most have only one, in an array of exact size.
    this.#bySource.set(source, others ? [...others, timer] : [timer])
  }

  cancel(source: AnyActorRef, id: string): void {
    for (const timer of this.#of(source)) if (timer.id === id) this.#drop(timer)
  }

  cancelAll(source: AnyActorRef): void {
    for (const timer of this.#of(source)) this.#drop(timer)
  }

  #of(source: AnyActorRef): readonly Timer[] {
    return this.#bySource.get(source) ?? []
  }

  #moment(due: number): Moment {
    const known = this.#moments.get(due)
    if (known) return known
    const handle = this.#clock.setTimeout(() => this.#reach(due), due - this.#clock.now())
    const moment = { handle, timers: new Set<Timer>() }
    this.#moments.set(due, moment)
    return moment
  }

  #reach(due: number): void {
    const timers = this.#moments.get(due)?.timers ?? []
    // A set leaves out what an event before has cancelled.
    for (const timer of timers) {
      this.#drop(timer)
      timer.target.send(timer.event)
    }
  }

  #drop(timer: Timer): void {
    const { source } = timer
    const left = this.#of(source).filter((other) => other !== timer)
    if (left.length > 0) this.#bySource.set(source, left)
    else this.#bySource.delete(source)
    const moment = this.#moments.get(timer.due)
    moment?.timers.delete(timer)
    if (moment?.timers.size !== 0) return
    this.#clock.clearTimeout(moment.handle)
    this.#moments.delete(timer.due)
  }
}

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

/** What most snapshots have of these; nothing writes to them. */
const none = {
  tags: new Set<string>(),
  children: Object.freeze({}),
  historyValue: Object.freeze({}),
}

/** Has the snapshots of a machine share what is empty in them: of each its own would be a third of an idle actor's snapshot. */
function sharing<Machine extends AnyStateMachine>(machine: Machine): Machine {
  const { transition, getInitialSnapshot } = machine
  machine.transition = (...step) => shared(transition(...step))
  machine.getInitialSnapshot = (...beginning) => shared(getInitialSnapshot(...beginning))
  return machine
}

function shared<Snapshot extends AnyMachineSnapshot>(snapshot: Snapshot): Snapshot {
  if (snapshot.tags.size === 0) snapshot.tags = none.tags
  if (isEmpty(snapshot.children)) snapshot.children = none.children
  if (isEmpty(snapshot.historyValue)) snapshot.historyValue = none.historyValue
  return snapshot
}

const isEmpty = (object: object) => Object.keys(object).length === 0

interface Resident<Hosted> {
  readonly actor: Hosted
  /** Functions that end the running services; absent until the first one, since most actors never run any. */
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
    this.#logic = sharing(options.provide(this))
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
