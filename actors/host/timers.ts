/** The delayed events of actors that share one system: one timer of the clock for all that are due at about the same time. */
import type { AnyActorRef, AnyEventObject } from 'xstate'
import type { Clock } from '../ports/ports.ts'

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

/** XState's own scheduler looks through the timers of all actors whenever one of them stops. */
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
    // Most have one alone, in an array with no room to spare.
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
