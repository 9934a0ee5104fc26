/** The places a machine leaves open for effects. `actors/` fills them; a machine alone has none. */
import { type EventObject, fromCallback } from 'xstate'

/** An effect started by a transition. Its outcome comes back to the machine as an event. */
export const action =
  <Params = undefined>(name: string) =>
  (_: unknown, _params: Params): void =>
    missing(name)

/** An effect that lives as long as a state: leaving the state stops it. */
export const service = (name: string) => fromCallback<EventObject, undefined>(() => missing(name))

function missing(name: string): never {
  throw new Error(`The effect '${name}' is not provided`)
}
