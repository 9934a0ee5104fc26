/** Stores events in the log; an event that can never be stored is skipped after a few tries, so that the rest is stored. */

import { EventsUnstorable } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { Appended, Logger, UpdateLog } from '../ports/ports.ts'

type Batch = Parameters<UpdateLog['append']>[0]

/** Each try but the last ends the session: the next one reports the event again. */
const TRIES = 3

interface StoringWorld {
  readonly updates: Pick<UpdateLog, 'append'>
  readonly logger: Pick<Logger, 'error'>
}

export class UnstorableEvents {
  readonly #world: StoringWorld
  readonly #credentialId: number
  readonly #skipped: () => void
  /** The source key of the first event that could not be stored; the events after it wait. */
  #suspect: string | undefined
  #tries = 0

  /** `skipped` is called for each event that was left out. */
  constructor(world: StoringWorld, credentialId: number, skipped: () => void) {
    this.#world = world
    this.#credentialId = credentialId
    this.#skipped = skipped
  }

  async append(batch: Batch): Promise<Appended> {
    try {
      return await this.#world.updates.append(batch)
    } catch (cause) {
      if (!(cause instanceof EventsUnstorable)) throw cause
    }
    // One of them is unstorable, so each is stored alone. An event that is reported again is known by its source key.
    const { happenings, checkpoint: _, ...rest } = batch
    for (const happening of happenings) {
      const appended = await this.#alone({ ...rest, happenings: [happening] }, happening)
      if (!appended.stored) return appended
    }
    return this.#world.updates.append({ ...batch, happenings: [] })
  }

  async #alone(batch: Batch, { sourceKey }: Happening): Promise<Appended> {
    try {
      return await this.#world.updates.append(batch)
    } catch (cause) {
      if (!(cause instanceof EventsUnstorable)) throw cause
      this.#tries = this.#suspect === sourceKey ? this.#tries + 1 : 1
      this.#suspect = sourceKey
      if (this.#tries < TRIES) throw cause
      const facts = { credentialId: this.#credentialId, sourceKey, err: cause }
      this.#world.logger.error(facts, 'an event cannot be stored, and is left out')
      this.#skipped()
      return { stored: true, count: 0 }
    }
  }
}
