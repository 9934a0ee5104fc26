/** Finds live actors: activated on first use, passivated when idle, dropped once closed. */
import { failed } from '../../machines/model/failure.ts'

interface Closable {
  readonly closed: Promise<unknown>
  readonly isActive?: boolean
  isIdle(forMilliseconds: number): boolean
  stop(): void
}

const SOON = { retryAfterSeconds: 1 }

export class Directory<Id, Actor extends Closable> {
  readonly #activate: (id: Id) => Promise<Actor>
  readonly #isTold: boolean
  readonly #activations = new Map<Id, Promise<Actor>>()
  readonly #live = new Map<Id, Actor>()
  #isStopped = false

  /**
   * `activate` may reject: the caller then learns why, and the next one tries again. With `isTold`, whoever activates
   * calls `drop` for what has ended: to await that of many thousands takes a promise for each.
   */
  constructor(activate: (id: Id) => Promise<Actor>, { isTold = false } = {}) {
    this.#activate = activate
    this.#isTold = isTold
  }

  /** Concurrent callers of one id share one activation. Rejects with `unavailable` once stopped. */
  async find(id: Id): Promise<Actor> {
    return this.#live.get(id) ?? this.#activations.get(id) ?? this.#begin(id)
  }

  /** The actor if it lives now. */
  peek(id: Id): Actor | undefined {
    return this.#live.get(id)
  }

  /** The actor if it lives now or is just coming to life. */
  async awake(id: Id): Promise<Actor | undefined> {
    return this.#live.get(id) ?? this.#activations.get(id)?.catch(() => undefined)
  }

  /** The actor has ended. */
  drop(id: Id, actor: Actor): void {
    if (this.#live.get(id) === actor) this.#live.delete(id)
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
    await Promise.allSettled(this.#activations.values())
    const live = [...this.#live.values()]
    for (const actor of live) actor.stop()
    await Promise.all(live.map((actor) => actor.closed))
  }

  #begin(id: Id): Promise<Actor> {
    // Nobody would be left to stop it.
    if (this.#isStopped) throw failed('unavailable', 'the service is going down', SOON)
    const activation = this.#activate(id).then((actor) => {
      if (!this.#isTold) actor.closed.then(() => this.drop(id, actor))
      if (actor.isActive !== false) this.#live.set(id, actor)
      return actor
    })
    this.#activations.set(id, activation)
    const settled = () => this.#activations.delete(id)
    activation.then(settled, settled)
    return activation
  }
}
