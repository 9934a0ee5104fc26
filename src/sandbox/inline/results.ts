/** Sends a result that a bot offered: as a message of the person who picked it, with the name of the bot. */
import type { Content, Message } from '../../../machines/model/content.ts'
import { badRequest, notFound } from '../../../machines/model/failure.ts'
import type {
  InlinePlace,
  InlineResult,
  WebMedia,
} from '../../../machines/model/operation-inline.ts'
import type { Queryable } from '../../database/database.ts'
import { accessOf } from '../chats/access.ts'
import { findByName } from '../chats/lookup.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { withOutbox } from '../chats/transaction.ts'
import { inlineId, personOf } from '../delivery/mapping.ts'
import { sendVia } from '../messages/send.ts'
import type { NetworkContext, Outbox } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'

/** A person or chat as a person names it: its id, or a public name with the at sign. */
export type Named = number | string

/** The native id. */
export async function nativeOf(context: NetworkContext, named: Named): Promise<number> {
  if (typeof named === 'number' || !named.startsWith('@')) return Number(named)
  return Number((await findByName(context, named.slice(1))).native)
}

/** The chat in which a person uses a bot. */
export interface Spot {
  /** The id of the chat's row. */
  readonly chat: number
  /** As the person names it. */
  readonly native: number
  readonly place: InlinePlace
}

/** Rejects where the person is not in the chat. */
export async function spotOf(
  { db }: NetworkContext,
  person: number,
  bot: number,
  native: number,
): Promise<Spot> {
  await openPrivateChat(db, person, native)
  const { chat } = await accessOf(db, person, native)
  return { chat: chat.id, native, place: native === bot ? 'sender' : chat.kind }
}

/** Rejects with `bad_request` for a person of another network. */
export async function botOf({ db, network }: NetworkContext, bot: number): Promise<PersonRow> {
  const [row] = await db.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p where id = $1 and user_id = $2`,
    [bot, network],
  )
  if (!row) throw notFound('user')
  return row.person
}

export async function personNamed(db: Queryable, person: number): Promise<PersonRow> {
  const [row] = await db.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p where id = $1`,
    [person],
  )
  return row!.person
}

/** Also where another answer was faster. */
export const tooOld = () =>
  badRequest('query is too old and response timeout expired or query ID is invalid')

interface Sending {
  readonly person: number
  readonly bot: PersonRow
  readonly spot: Spot
  readonly result: InlineResult
  readonly replyTo?: number
  readonly topic?: number
  /** The bot writes it itself, called by the person. */
  readonly isGuest?: true
  /** The query that the message answers. */
  readonly answers?: AnsweredQuery
}

interface AnsweredQuery {
  readonly id: string
  /** SQL: marks the query `$1` as answered, and returns a row unless it was before. */
  readonly mark: string
}

interface SentResult {
  readonly message: Message
  /** The name of the message for the bot, where it has buttons or the bot wrote it. */
  readonly inline?: string
}

export async function sendResult(
  context: NetworkContext,
  { person, bot, spot, result, replyTo, topic, isGuest, answers }: Sending,
  signal: AbortSignal,
): Promise<SentResult> {
  const { buttons } = result
  const content = await contentOf(context, result.content, signal)
  const outbox = answers ? answeringOutbox(context, answers) : context.outbox
  const call = { context: { ...context, outbox }, by: { person }, request: crypto.randomUUID() }
  const send = () =>
    sendVia(
      call,
      {
        kind: 'send',
        chat: `${spot.native}`,
        content,
        ...(replyTo !== undefined && { replyTo: `${replyTo}` }),
        ...(isGuest && { replyOptional: true }),
        ...(topic !== undefined && { topic: `${topic}` }),
        ...(buttons && { buttons }),
      },
      { via: { ...personOf(bot), isBot: true }, ...(isGuest && { isGuest }) },
    )
  const { message } = await context.capacity.reserve(context.network, 1, send)
  const key = { chat: spot.chat, message: Number(message.native) }
  return { message, ...((isGuest || buttons?.length) && { inline: inlineId(key) }) }
}

/** Stores a message and that its query is answered together: of two answers at once, one is sent and the other one is late. */
function answeringOutbox(context: NetworkContext, { id, mark }: AnsweredQuery): Outbox {
  const answer = <Sent>(send: (outbox: Outbox) => Promise<Sent>) =>
    withOutbox(context, async (tx, outbox) => {
      if ((await tx.query(mark, [id])).length === 0) throw tooOld()
      return send(outbox)
    })
  return {
    send: (message) => answer((outbox) => outbox.send(message)),
    sendTogether: (messages) => answer((outbox) => outbox.sendTogether(messages)),
    within: (tx, wake) => context.outbox.within(tx, wake),
  }
}

async function contentOf(
  { media, network }: NetworkContext,
  content: Content | WebMedia,
  signal: AbortSignal,
): Promise<Content> {
  if (content.kind !== 'web_media') return content
  const { media: kind, url, mime, hints, caption, captionAbove } = content
  const { media: fetched } = await media.ingest(
    { userId: network, kind, source: { from: 'url', url }, hints, ...(mime && { mime }) },
    signal,
  )
  return { kind: 'media', media: fetched, caption, ...(captionAbove && { captionAbove }) }
}
