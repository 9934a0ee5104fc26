/** Finds live actors by their ids: begun on first use, stopped when idle, forgotten once they have ended. */
import { failed } from '../../machines/model/failure.ts'
import type { Down } from '../../machines/supervision/machine.ts'
import type { Supervision } from './supervision.ts'

interface Registered {
  readonly closed: Promise<unknown>
  readonly isActive?: boolean
  onEnd(listener: (cause: unknown) => void): void
  isIdle(forMilliseconds: number): boolean
  stop(): void
}

export class ActorRegistry<Id, Actor extends Registered> {
  readonly #begin: (id: Id) => Promise<Actor>
  readonly #supervision: Supervision<Id> | undefined
  readonly #beginning = new Map<Id, Promise<Actor>>()
  readonly #live = new Map<Id, Actor>()
  #isStopped = false

  /** `begin` may reject: all callers of that moment get the error, and the next one tries again. */
  constructor(begin: (id: Id) => Promise<Actor>, supervision?: Supervision<Id>) {
    this.#begin = begin
    this.#supervision = supervision
  }

  /**
   * Concurrent callers of one id share one beginning. Rejects with `unavailable` while the actor rests after a crash, and
   * once the registry is stopped.
   */
  async find(id: Id): Promise<Actor> {
    return this.#live.get(id) ?? this.#beginning.get(id) ?? this.#beginOnce(id)
  }

  /** The actor if it lives now. */
  peek(id: Id): Actor | undefined {
    return this.#live.get(id)
  }

  /** The actor if it lives now or is about to begin. */
  async awake(id: Id): Promise<Actor | undefined> {
    return this.#live.get(id) ?? this.#beginning.get(id)?.catch(() => undefined)
  }

  /** Which state of its supervision keeps the actor from beginning; undefined where nothing does. */
  downOf(id: Id): Down | undefined {
    return this.#supervision?.stateOf(id)
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
    await Promise.allSettled(this.#beginning.values())
    this.#supervision?.stop()
    const live = [...this.#live.values()]
    for (const actor of live) actor.stop()
    await Promise.all(live.map((actor) => actor.closed))
  }

  #beginOnce(id: Id): Promise<Actor> {
    // Nothing would stop the actor later.
    if (this.#isStopped) {
      throw failed('unavailable', 'the service is going down', {
        reason: 'going_down',
        retryAfterSeconds: 1,
      })
    }
    this.#supervision?.assertMayBegin(id)
    const beginning = this.#begin(id).then((actor) => {
      if (actor.isActive !== false) this.#live.set(id, actor)
      actor.onEnd((cause) => this.#ended(id, actor, cause))
      return actor
    })
    this.#beginning.set(id, beginning)
    const settled = () => this.#beginning.delete(id)
    beginning.then(settled, settled)
    return beginning
  }

  #ended(id: Id, actor: Actor, cause: unknown): void {
    if (this.#live.get(id) === actor) this.#live.delete(id)
    if (cause !== undefined) this.#supervision?.crashed(id)
  }
}
