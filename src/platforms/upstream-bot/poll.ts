/** Polls updates from the other server: the next poll begins once these updates are stored. */
import type { SessionReport } from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import { Unanswered } from '../kit/http-client.ts'
import { fieldsOf } from '../kit/platform.ts'
import { Poller } from '../kit/poller.ts'
import { type BotApiAnswer, type BotApiClient, refusalIn } from './client.ts'
import type { Flavour } from './flavour.ts'
import { type ReceivedUpdate, updatesIn } from './update.ts'

/** The kinds of updates that the keys of an account want together. */
export interface WantedUpdates {
  /** The reference's names, and those of newer kinds; none: the kinds that come without being asked for. */
  names(credentialId: number): Promise<readonly string[]>
  /** Calls back whenever the names may have changed; returns how to stop listening. */
  onChange(credentialId: number, listener: () => void): () => void
}

interface PollOptions {
  readonly client: BotApiClient
  readonly flavour: Flavour
  readonly report: Pick<SessionReport, 'events' | 'passedOver'>
  readonly logger: Logger
  readonly credentialId: number
  readonly self: string
  readonly wanted: WantedUpdates
  /** How long the server holds a poll without updates. */
  readonly holdSeconds: number
}

/** Time for the answer in addition to the time for which the server holds the poll. */
const GRACE_MS = 10_000
const MOST = 100

export class Updates extends Poller<number> {
  readonly #options: PollOptions
  #hasWarned = false

  constructor(options: PollOptions, checkpoint: Json) {
    super({
      report: options.report,
      cursor: offsetOf(checkpoint),
      checkpointOf: (offset) => ({ offset }),
      read: (offset, signal) => this.#page(offset, signal),
    })
    this.#options = options
  }

  async #page(offset: number | undefined, signal: AbortSignal) {
    const answer = await this.#ask(offset, signal)
    if (!answer) return undefined
    const updates = this.#read(answer)
    const last = updates.at(-1)
    // A server that lost its numbers begins anew, perhaps with lower ones.
    const cursor = last && last.id + 1
    return { happenings: updates.flatMap(({ happening }) => happening ?? []), cursor }
  }

  /** Undefined if the wanted kinds changed meanwhile: updates that were not acknowledged come again. */
  async #ask(offset: number | undefined, signal: AbortSignal): Promise<BotApiAnswer | undefined> {
    const { client, flavour, holdSeconds, wanted, credentialId } = this.#options
    const changed = new AbortController()
    const ignore = flavour.filtersUpdates
      ? wanted.onChange(credentialId, () => changed.abort())
      : () => undefined
    try {
      const parameters = {
        offset,
        limit: MOST,
        timeout: holdSeconds,
        ...(flavour.filtersUpdates && { allowed_updates: await wanted.names(credentialId) }),
      }
      const answer = await client.ask(
        {
          verb: 'POST',
          path: 'getUpdates',
          type: 'application/json',
          body: JSON.stringify(parameters),
        },
        {
          // The end of the session ends the client.
          signal: changed.signal,
          milliseconds: holdSeconds * 1000 + GRACE_MS,
        },
      )
      if (answer.envelope.ok !== true) throw refusalIn(answer)
      return answer
    } catch (cause) {
      if (changed.signal.aborted && !signal.aborted) return undefined
      throw cause
    } finally {
      ignore()
    }
  }

  #read({ text, envelope }: BotApiAnswer): ReceivedUpdate[] {
    const { self, report, flavour, logger } = this.#options
    const now = Math.floor(Date.now() / 1000)
    try {
      const updates = updatesIn(text, envelope, { self, now })
      for (const { id: update_id, happening } of updates) {
        if (happening) continue
        report.passedOver('unknown')
        // Only once, so that a broken server does not fill the log.
        if (!this.#hasWarned) {
          const facts = { platform: flavour.id, update_id }
          logger.warn(facts, 'an update that has no kind or is nested too deep was passed over')
        }
        this.#hasWarned = true
      }
      return updates
    } catch (cause) {
      throw new Unanswered('garbage', 'the updates are not what the API promises', { cause })
    }
  }
}

function offsetOf(checkpoint: Json): number | undefined {
  const { offset } = fieldsOf(checkpoint)
  return typeof offset === 'number' ? offset : undefined
}
