/** A clock for actors under test: time passes only when told, timer by timer. */
import { setImmediate } from 'node:timers/promises'
import { SimulatedClock } from 'xstate'
import type { Clock } from '../../actors/ports/ports.ts'

/** Some day, so that times do not pass for durations. */
const START = 1_700_000_000_000

/** Lets everything happen that waits for nothing but its turn. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn++) await setImmediate()
}

export class TestClock implements Clock {
  readonly #clock = new SimulatedClock()
  readonly #due = new Map<number, number>()
  #setBy = 0

  constructor() {
    this.#clock.set(START)
  }

  now(): number {
    return this.#clock.now() + this.#setBy
  }

  /** The time of day is set, ahead or back; timers go on as they are. */
  set(milliseconds: number): void {
    this.#setBy += milliseconds
  }

  steadyNow(): number {
    return this.#clock.now() - START
  }

  setTimeout(work: () => void, delay: number): number {
    const milliseconds = Math.round(delay)
    const timer = this.#clock.setTimeout(() => {
      this.#due.delete(timer)
      work()
    }, milliseconds)
    this.#due.set(timer, this.#clock.now() + milliseconds)
    return timer
  }

  clearTimeout(timer: unknown): void {
    this.#due.delete(timer as number)
    this.#clock.clearTimeout(timer as number)
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#due.size
  }

  /** Lets time pass; whatever a timer sets going has settled before the next one. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#clock.now() + milliseconds
    await settled()
    for (let next = this.#next(); next <= end; next = this.#next()) {
      this.#clock.set(Math.max(next, this.#clock.now()))
      await settled()
    }
    this.#clock.set(end)
    await settled()
  }

  #next(): number {
    return Math.min(...this.#due.values())
  }
}

/** What a turn throws fails the test. */
export const thrown = (cause: unknown): never => {
  throw cause
}
