/** Effects that live as long as a state of their actor, and end even when it crashes. */
import { type CallbackActorLogic, type EventObject, fromCallback } from 'xstate'

/** XState ends services when their state is left, but a crash leaves none: here they are ended by hand. */
export class Services {
  readonly #running = new Set<() => void>()

  /** `start` returns how to end it; that is called once. */
  create<Input = undefined>(
    start: (send: (event: EventObject) => void, input: Input) => () => void,
  ): CallbackActorLogic<EventObject, Input> {
    return fromCallback<EventObject, Input>(({ sendBack, input }) => {
      const stop = start(sendBack, input)
      const end = () => {
        if (this.#running.delete(end)) stop()
      }
      this.#running.add(end)
      return end
    })
  }

  endAll(): void {
    for (const end of [...this.#running]) end()
  }
}
