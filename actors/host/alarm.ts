/** One timer that is moved as often as its time changes. */

export interface AlarmWorld {
  now(): number
  later(work: () => void, milliseconds: number): () => void
}

export class Alarm {
  readonly #world: AlarmWorld
  readonly #ring: () => void
  #at = Number.POSITIVE_INFINITY
  #cancel: (() => void) | undefined

  constructor(world: AlarmWorld, ring: () => void) {
    this.#world = world
    this.#ring = ring
  }

  /** Never, for infinity. */
  set(at: number): void {
    if (this.#at === at) return
    this.#cancel?.()
    this.#cancel = undefined
    this.#at = at
    if (at === Number.POSITIVE_INFINITY) return
    this.#cancel = this.#world.later(
      () => {
        this.#at = Number.POSITIVE_INFINITY
        this.#ring()
      },
      Math.max(0, at - this.#world.now()),
    )
  }
}
