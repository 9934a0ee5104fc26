/** Walks a machine through events without an actor: what it would do is data. */
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type EventObject,
  initialTransition,
  type StateValue,
  transition,
} from 'xstate'
import type { Outcome, Reply } from '../../machines/model/protocol.ts'

export interface Effect {
  readonly type: string
  readonly params: unknown
}

interface Timer {
  readonly delay: number
  readonly event: EventObject
}

interface Wish extends Effect {
  readonly params: { id: string; src: string; sendId: string; delay?: number; event: EventObject }
}

const pathOf = (value: StateValue): string =>
  typeof value === 'string'
    ? value
    : Object.entries(value)
        .map(([name, inner]) => `${name}.${pathOf(inner ?? '')}`)
        .join(' ')

export class Walk<Event extends EventObject> {
  readonly #machine: AnyStateMachine
  readonly #timers = new Map<string, Timer>()
  readonly #services = new Map<string, string>()
  /** How many times a wait was begun, over all steps. */
  timersSet = 0
  snapshot: AnyMachineSnapshot
  /** What the last step asked the actor to do, without replies. */
  effects: Effect[] = []
  /** What the last step answered. */
  replies: Reply[] = []

  constructor(machine: AnyStateMachine, input: unknown) {
    this.#machine = machine
    const [snapshot, wishes] = initialTransition(machine, input)
    this.snapshot = snapshot
    this.#take(wishes)
  }

  /** One step; effects and replies are those of all its events. */
  send(...events: Event[]): this {
    this.effects = []
    this.replies = []
    for (const event of events) this.#step(event)
    return this
  }

  /** Ends the wait of this name; fails where the machine does not wait for it. */
  elapse(name: string): this {
    const found = [...this.#timers].find(([id]) => id.startsWith(`xstate.after.${name}.`))
    if (!found) throw new Error(`'${name}' is not waited for in ${this.state}`)
    return this.#fire(...found)
  }

  /** Ends the wait for a raised event of this type, the oldest first. */
  elapseRaised(type: string): this {
    const found = [...this.#timers].find(([, { event }]) => event.type === type)
    if (!found) throw new Error(`'${type}' is not due in ${this.state}`)
    return this.#fire(...found)
  }

  get state(): string {
    return pathOf(this.snapshot.value)
  }

  get meta(): unknown {
    return Object.values(this.snapshot.getMeta()).at(-1)
  }

  /** The services that live in this state. */
  get running(): string[] {
    return [...this.#services.values()].sort()
  }

  /** The waits that are under way, by name, with their milliseconds. */
  get timers(): Record<string, number> {
    const entries = [...this.#timers.values()].map(({ event, delay }) => [
      event.type.startsWith('xstate.after.') ? (event.type.split('.')[2] ?? '') : event.type,
      delay,
    ])
    return Object.fromEntries(entries)
  }

  /** The events that waits under way end with, the oldest first. */
  get waits(): EventObject[] {
    return [...this.#timers.values()].map(({ event }) => event)
  }

  /** Ends one of `waits`. */
  end(index: number): this {
    const found = [...this.#timers][index]
    if (!found) throw new Error(`no wait has the number ${index}`)
    return this.#fire(...found)
  }

  /** The only outcome of the last step; undefined when there is none or more than one. */
  get outcome(): Outcome | undefined {
    return this.replies.length === 1 ? this.replies[0]?.outcome : undefined
  }

  #fire(id: string, { event }: Timer): this {
    this.#timers.delete(id)
    this.effects = []
    this.replies = []
    this.#step(event)
    return this
  }

  #step(event: EventObject) {
    const [snapshot, wishes] = transition(this.#machine, this.snapshot, event)
    this.snapshot = snapshot
    this.#take(wishes)
  }

  #take(wishes: readonly object[]) {
    for (const { type, params } of wishes as readonly Wish[]) {
      if (type === 'xstate.emit') this.replies.push(params.event as Reply)
      else if (type === 'xstate.spawnChild') this.#services.set(params.id, params.src)
      else if (type === 'xstate.stopChild') this.#services.delete(params.id)
      else if (type === 'xstate.cancel') this.#timers.delete(params.sendId)
      else if (type === 'xstate.raise') this.#begin(params.id, params)
      else this.effects.push({ type, params })
    }
  }

  #begin(id: string | undefined, { delay, event }: { delay?: number; event: EventObject }) {
    if (delay === undefined) return
    this.timersSet++
    this.#timers.set(id ?? `raised ${this.#timers.size} ${event.type}`, { delay, event })
  }
}
