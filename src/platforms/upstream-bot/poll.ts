/** Takes updates from the other server: the next ones are asked for once these are stored. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Json, SessionReport } from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import { fieldsOf } from '../kit/stored.ts'
import type { Client } from './client.ts'
import { Unanswered } from './failures.ts'
import type { Flavour } from './flavour.ts'
import { array, fields, integer, Malformed } from './reading/fields.ts'
import { happeningOf } from './reading/update.ts'

interface PollOptions {
  readonly client: Client
  readonly flavour: Flavour
  readonly report: Pick<SessionReport, 'events' | 'passedOver'>
  readonly log: Logger
  readonly self: string
  /** For how long the server holds a poll when there is nothing. */
  readonly holdSeconds: number
}

/** How much longer than it holds a poll the server may take to answer. */
const GRACE_MS = 10_000
const MOST = 100
/** A server that does not hold its polls, or brings the same for ever, is asked no more often than that. */
const SHORTEST_MS = 1_000

/** Those it sends by itself, and those that have to be asked for. */
const WANTED = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'callback_query',
  'my_chat_member',
  'chat_member',
  'chat_join_request',
  'message_reaction',
  'message_reaction_count',
  'poll',
  'poll_answer',
  'deleted_messages',
]

export class Updates {
  readonly #options: PollOptions
  /** The kinds that the log has been told of. */
  readonly #told = new Set<string>()
  #offset: number | undefined

  constructor(options: PollOptions, checkpoint: Json) {
    this.#options = options
    this.#offset = offsetOf(checkpoint)
  }

  /** One poll: resolves once what it brought is stored. */
  async poll(signal: AbortSignal): Promise<void> {
    const { client, flavour, holdSeconds, report } = this.#options
    const began = performance.now()
    const result = await client.call(
      'getUpdates',
      {
        offset: this.#offset,
        limit: MOST,
        timeout: holdSeconds,
        ...(flavour.filtersUpdates && { allowed_updates: WANTED }),
      },
      { signal, milliseconds: holdSeconds * 1000 + GRACE_MS },
    )
    const updates = updatesIn(result)
    const before = this.#offset
    const last = updates.at(-1)
    if (last) {
      // A server that lost its numbers begins anew, perhaps with lower ones.
      const offset = last.id + 1
      const happenings = updates.flatMap(({ id, update }) => this.#read(id, update))
      await report.events(happenings, { offset })
      this.#offset = offset
    }
    if (this.#offset !== before) return
    await pause(Math.max(0, SHORTEST_MS - (performance.now() - began)), undefined, { signal })
  }

  /** What cannot be read would come again for ever: it is passed over, and the timeline counts it by its kind. */
  #read(update_id: number, update: unknown): Happening[] {
    const { self, report } = this.#options
    try {
      const now = Math.floor(Date.now() / 1000)
      const happening = happeningOf(update, { self, now })
      if (happening) return [happening]
      this.#tell(update_id, update)
    } catch (cause) {
      if (!(cause instanceof Malformed)) throw cause
      this.#tell(update_id, update, cause)
    }
    report.passedOver(kindOf(update))
    return []
  }

  /** Once for each kind, or a busy bot fills the log. */
  #tell(update_id: number, update: unknown, err?: Malformed): void {
    const { flavour, log } = this.#options
    const kind = kindOf(update)
    const name = err ? `malformed ${kind}` : kind
    if (this.#told.has(name)) return
    this.#told.add(name)
    const about = { platform: flavour.id, kind, update_id }
    if (err) log.warn({ ...about, err }, 'an update that cannot be read was passed over')
    else log.info(about, 'an update of a kind that is not known was passed over')
  }
}

/** The word of the other server, if it is one. */
function kindOf(update: unknown): string {
  const names = typeof update === 'object' && update !== null ? Object.keys(update) : []
  const kind = names.find((name) => name !== 'update_id') ?? ''
  return /^[a-z_]{1,40}$/.test(kind) ? kind : 'unknown'
}

function updatesIn(result: unknown) {
  try {
    return array(result, (update) => ({ id: integer(fields(update).update_id), update }))
  } catch (cause) {
    throw new Unanswered('garbage', 'the updates are not what the API promises', { cause })
  }
}

function offsetOf(checkpoint: Json): number | undefined {
  const { offset } = fieldsOf(checkpoint)
  return typeof offset === 'number' ? offset : undefined
}
