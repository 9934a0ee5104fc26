/** Finds live actors: activated on first use, passivated when idle, dropped once closed. */
interface Closable {
  readonly closed: Promise<unknown>
  isIdle(forMilliseconds: number): boolean
  stop(): void
}

export class Directory<Id, Actor extends Closable> {
  readonly #activate: (id: Id) => Promise<Actor>
  readonly #activations = new Map<Id, Promise<Actor>>()
  readonly #live = new Map<Id, Actor>()

  /** `activate` may reject: the caller then learns why, and the next one tries again. */
  constructor(activate: (id: Id) => Promise<Actor>) {
    this.#activate = activate
  }

  /** Concurrent callers of one id share one activation. */
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
    await Promise.allSettled(this.#activations.values())
    const live = [...this.#live.values()]
    for (const actor of live) actor.stop()
    await Promise.all(live.map((actor) => actor.closed))
  }

  #begin(id: Id): Promise<Actor> {
    const activation = this.#activate(id).then((actor) => {
      this.#live.set(id, actor)
      actor.closed.then(() => {
        if (this.#live.get(id) === actor) this.#live.delete(id)
      })
      return actor
    })
    this.#activations.set(id, activation)
    const settled = () => this.#activations.delete(id)
    activation.then(settled, settled)
    return activation
  }
}
