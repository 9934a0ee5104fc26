/** Stores the events of a session one batch after another, each with the checkpoint that covers it. */
import type { SessionReport } from '../../../actors/ports/platform.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import type { Ending } from './session-life.ts'

/** Events that happened could not be stored: the network must send them again to the next session. */
export class NotStored extends Error {
  override readonly name = 'NotStored'
}

/** How a session ends after that. */
export const NOT_STORED: Ending = { kind: 'lost', reason: 'events_not_stored' }

export class EventLine {
  readonly #report: Pick<SessionReport, 'events'>
  #last: Promise<unknown> = Promise.resolve()

  constructor(report: Pick<SessionReport, 'events'>) {
    this.#report = report
  }

  /** Runs `work` once all work before it is settled. A failure goes to the caller, and the line goes on. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Resolves once the events are committed; rejects with `NotStored`. Called from work of the line. */
  async store(happenings: readonly Happening[], checkpoint: Json): Promise<void> {
    try {
      await this.#report.events(happenings, checkpoint)
    } catch (cause) {
      throw new NotStored('The events could not be stored', { cause })
    }
  }
}
