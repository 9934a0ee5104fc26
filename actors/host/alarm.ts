/** One timer that is moved as often as its time changes. */
import type { Clock } from '../ports/ports.ts'
import { later } from './time.ts'

export class Alarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #at = Number.POSITIVE_INFINITY
  #cancel: (() => void) | undefined

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** `at` in milliseconds since 1970; infinity for never. */
  set(at: number): void {
    if (this.#at === at) return
    this.#cancel?.()
    this.#cancel = undefined
    this.#at = at
    if (at === Number.POSITIVE_INFINITY) return
    const ring = () => {
      this.#at = Number.POSITIVE_INFINITY
      this.#ring()
    }
    this.#cancel = later(this.#clock, ring, Math.max(0, at - this.#clock.now()))
  }
}
