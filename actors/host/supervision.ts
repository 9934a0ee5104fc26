/** Supervises actors that begin on demand: one that crashed does not begin again before its machine says so. */
import { type Actor, createActor } from 'xstate'
import { RequestFailed } from '../../machines/model/failure.ts'
import {
  type Down,
  downFailure,
  restAfter,
  supervisionMachine,
} from '../../machines/supervision/machine.ts'
import type { Clock } from '../ports/ports.ts'
import { jittered } from './time.ts'

/** Credentials and webhook deliveries use these delays, too. */
export const jitteredCrashDelays = {
  crashRest: ({ context }: { context: { readonly crashes: readonly number[] } }) =>
    jittered(restAfter(context.crashes)),
  tryAgain: () => jittered(300_000),
}

const logic = supervisionMachine.provide({ delays: jitteredCrashDelays })

interface SupervisionOptions {
  /** Names the kind of actor in metrics and answers. */
  readonly kind: string
  readonly clock: Clock
  onCrash?(kind: string): void
}

export class Supervision<Id> {
  readonly #options: SupervisionOptions
  /** Only of actors that crashed lately. */
  readonly #crashed = new Map<Id, Actor<typeof logic>>()

  constructor(options: SupervisionOptions) {
    this.#options = options
  }

  crashed(id: Id): void {
    const { kind, clock, onCrash } = this.#options
    onCrash?.(kind)
    let supervised = this.#crashed.get(id)
    if (!supervised) {
      supervised = createActor(logic, { clock })
      this.#crashed.set(id, supervised)
      supervised.subscribe({ complete: () => this.#crashed.delete(id) })
      supervised.start()
    }
    supervised.send({ type: 'actor.crashed', at: clock.now() })
  }

  /** Undefined for an actor that runs, or may begin. */
  stateOf(id: Id): Down | undefined {
    const value = this.#crashed.get(id)?.getSnapshot().value
    return value === 'crashed' || value === 'failed' ? value : undefined
  }

  /** Throws `RequestFailed` while the actor may not begin. */
  assertMayBegin(id: Id): void {
    const down = this.stateOf(id)
    if (down) throw new RequestFailed(downFailure(this.#options.kind, down))
  }

  stop(): void {
    for (const supervised of [...this.#crashed.values()]) supervised.stop()
  }
}
