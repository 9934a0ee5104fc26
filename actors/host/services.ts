/** What the effects of actors stand on, and the effects that live as long as a state of theirs. */
import { type AnyActorRef, type CallbackActorLogic, type EventObject, fromCallback } from 'xstate'

type Inhabitant = Pick<AnyActorRef, 'system'>

interface Live<Own> {
  readonly own: Own
  /** Made for the first one: most actors of some kinds never run any. */
  running?: Set<() => void>
}

/**
 * `Own` is what each actor has for itself. The machine with its effects is one for all of a kind: a copy for every
 * actor would weigh ten times the actor.
 */
export class Services<Own> {
  readonly #live = new WeakMap<AnyActorRef['system'], Live<Own>>()

  /** To be called before the actor starts. */
  admit({ system }: Inhabitant, own: Own): void {
    this.#live.set(system, { own })
  }

  of(actor: Inhabitant): Own {
    return this.#find(actor).own
  }

  /** `start` returns how to end it; that is called once. */
  create(
    start: (own: Own, send: (event: EventObject) => void) => () => void,
  ): CallbackActorLogic<EventObject, undefined> {
    return fromCallback<EventObject, undefined>(({ system, sendBack }) => {
      const live = this.#find({ system })
      live.running ??= new Set()
      const { own, running } = live
      const stop = start(own, sendBack)
      const end = () => {
        if (running.delete(end)) stop()
      }
      running.add(end)
      return end
    })
  }

  /** XState ends services when their state is left, but a crash leaves none: here they are ended by hand. */
  endAll(actor: Inhabitant): void {
    for (const end of [...(this.#find(actor).running ?? [])]) end()
  }

  #find({ system }: Inhabitant): Live<Own> {
    const live = this.#live.get(system)
    if (!live) throw new Error('the actor was not admitted')
    return live
  }
}
