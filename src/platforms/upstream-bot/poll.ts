/** Takes updates from the other server: the next ones are asked for once these are stored. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Json, SessionReport } from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import { fieldsOf } from '../kit/platform.ts'
import { type Answer, type Client, refusalIn } from './client.ts'
import { Unanswered } from './failures.ts'
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
  readonly client: Client
  readonly flavour: Flavour
  readonly report: Pick<SessionReport, 'events' | 'passedOver'>
  readonly logger: Logger
  readonly credentialId: number
  readonly self: string
  readonly wanted: WantedUpdates
  /** For how long the server holds a poll when there is nothing. */
  readonly holdSeconds: number
}

/** How much longer than it holds a poll the server may take to answer. */
const GRACE_MS = 10_000
const MOST = 100
/**
 * A server that does not hold its polls, or brings the same for ever, is asked at first as often as the one and then ever
 * more seldom: a bot that is being written to does not wait, and a thousand quiet ones are no flood.
 */
const SHORTEST_MS = { first: 20, last: 1_000 }

export class Updates {
  readonly #options: PollOptions
  #offset: number | undefined
  #shortestMs = SHORTEST_MS.first
  #hasWarned = false

  constructor(options: PollOptions, checkpoint: Json) {
    this.#options = options
    this.#offset = offsetOf(checkpoint)
  }

  /** One poll: resolves once what it brought is stored. */
  async poll(signal: AbortSignal): Promise<void> {
    const began = performance.now()
    const answer = await this.#ask(signal)
    if (!answer) return
    const updates = this.#read(answer)
    const before = this.#offset
    const last = updates.at(-1)
    if (last) {
      // A server that lost its numbers begins anew, perhaps with lower ones.
      const offset = last.id + 1
      const happenings = updates.flatMap(({ happening }) => happening ?? [])
      await this.#options.report.events(happenings, { offset })
      this.#offset = offset
    }
    const tookMs = performance.now() - began
    if (this.#offset !== before || tookMs >= SHORTEST_MS.last) {
      this.#shortestMs = SHORTEST_MS.first
      return
    }
    await pause(Math.max(0, this.#shortestMs - tookMs), undefined, { signal })
    this.#shortestMs = Math.min(2 * this.#shortestMs, SHORTEST_MS.last)
  }

  /** Undefined where other kinds are wanted since: what was not acknowledged comes again. */
  async #ask(signal: AbortSignal): Promise<Answer | undefined> {
    const { client, flavour, holdSeconds, wanted, credentialId } = this.#options
    const changed = new AbortController()
    const ignore = flavour.filtersUpdates
      ? wanted.onChange(credentialId, () => changed.abort())
      : () => undefined
    try {
      const parameters = {
        offset: this.#offset,
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

  #read({ text, envelope }: Answer): ReceivedUpdate[] {
    const { self, report, flavour, logger } = this.#options
    const now = Math.floor(Date.now() / 1000)
    try {
      const updates = updatesIn(text, envelope, { self, now })
      for (const { id: update_id, happening } of updates) {
        if (happening) continue
        report.passedOver('unknown')
        // Once, or a broken server fills the log.
        if (!this.#hasWarned) {
          const facts = { platform: flavour.id, update_id }
          logger.warn(facts, 'an update that has no kind was passed over')
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
