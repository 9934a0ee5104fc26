/** What the effects of actors stand on, and the effects that live as long as a state of theirs. */
import { type AnyActorRef, type CallbackActorLogic, type EventObject, fromCallback } from 'xstate'

type Inhabitant = Pick<AnyActorRef, 'system'>

interface Live<Own> {
  readonly own: Own
  readonly running: Set<() => void>
}

/**
 * `Own` is what each actor has for itself. The machine with its effects is one for all of a kind: a copy for every
 * actor would weigh ten times the actor.
 */
export class Services<Own> {
  readonly #live = new WeakMap<AnyActorRef['system'], Live<Own>>()

  /** To be called before the actor starts. */
  admit({ system }: Inhabitant, own: Own): void {
    this.#live.set(system, { own, running: new Set() })
  }

  of(actor: Inhabitant): Own {
    return this.#find(actor).own
  }

  /** `start` returns how to end it; that is called once. */
  create<Input = undefined>(
    start: (own: Own, send: (event: EventObject) => void, input: Input) => () => void,
  ): CallbackActorLogic<EventObject, Input> {
    return fromCallback<EventObject, Input>(({ system, sendBack, input }) => {
      const { own, running } = this.#find({ system })
      const stop = start(own, sendBack, input)
      const end = () => {
        if (running.delete(end)) stop()
      }
      running.add(end)
      return end
    })
  }

  /** XState ends services when their state is left, but a crash leaves none: here they are ended by hand. */
  endAll(actor: Inhabitant): void {
    for (const end of [...this.#find(actor).running]) end()
  }

  #find({ system }: Inhabitant): Live<Own> {
    const live = this.#live.get(system)
    if (!live) throw new Error('the actor was not admitted')
    return live
  }
}
