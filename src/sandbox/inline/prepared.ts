/** Messages that a bot prepares for a person, who sends them later; and those that a web app sends for the person. */
import { randomBytes } from 'node:crypto'
import type { Message } from '../../../machines/model/content.ts'
import { badRequest } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { InlinePlace, InlineResult } from '../../../machines/model/operation-inline.ts'
import type { Person } from '../../../machines/model/person.ts'
import { parseChatId, personOf } from '../delivery/mapping.ts'
import { storable } from '../messages/content.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import {
  botOf,
  type Named,
  nativeOf,
  personNamed,
  type Spot,
  sendResult,
  spotOf,
  tooOld,
} from './results.ts'

const KEPT_SECONDS = 86_400

export async function prepareInline(
  { context, by }: Call,
  { person, result, places }: OperationOf<'prepare_inline'>,
): Promise<OperationResult> {
  const { id: reader } = await botOf(context, parseChatId(person))
  const id = randomBytes(12).toString('base64url')
  const expiresAt = Math.floor(context.now() / 1000) + KEPT_SECONDS
  await context.db.query(
    `insert into sandbox_prepared_message (id, person_id, bot_id, result, places, expires_at)
     values ($1, $2, $3, $4, $5, to_timestamp($6))`,
    [id, reader, by.person, JSON.stringify(storable(result)), [...places], expiresAt],
  )
  return { kind: 'prepared', id, expiresAt }
}

/** Sends a prepared message to a chat of a kind that the bot allowed. */
export async function sendPrepared(
  context: NetworkContext,
  person: number,
  id: string,
  to: Named,
  signal: AbortSignal,
): Promise<Message> {
  const [row] = await context.db.query<{
    readonly bot: number
    readonly result: InlineResult
    readonly places: readonly InlinePlace[]
  }>(
    `select bot_id as bot, result, places from sandbox_prepared_message
     where id = $1 and person_id = $2 and expires_at > to_timestamp($3)`,
    [id, person, context.now() / 1000],
  )
  if (!row) throw badRequest('MESSAGE_ID_INVALID')
  const bot = await botOf(context, row.bot)
  const spot = await spotOf(context, person, bot.id, await nativeOf(context, to))
  if (!row.places.includes(spot.place))
    throw badRequest('the message may not be sent to such a chat')
  const { result } = row
  const { message } = await sendResult(context, { person, bot, spot, result }, signal)
  return message
}

const OPEN_SECONDS = 86_400

export interface OpenedWebApp {
  readonly id: string
  readonly chat: Spot
  readonly person: Person
  /** Unix time in seconds. */
  readonly at: number
}

/** A person opens a web app of a bot. The app may answer once, while it is open. */
export async function openWebApp(
  context: NetworkContext,
  person: number,
  { bot, chat }: { readonly bot: Named; readonly chat: Named },
): Promise<OpenedWebApp> {
  const { id: owner } = await botOf(context, await nativeOf(context, bot))
  const spot = await spotOf(context, person, owner, await nativeOf(context, chat))
  const id = randomBytes(12).toString('base64url')
  const at = Math.floor(context.now() / 1000)
  await context.db.query(
    `insert into sandbox_web_app (id, person_id, bot_id, chat_id, expires_at)
     values ($1, $2, $3, $4, to_timestamp($5))`,
    [id, person, owner, spot.chat, at + OPEN_SECONDS],
  )
  return { id, chat: spot, person: personOf(await personNamed(context.db, person)), at }
}

/** The person has a web app open, and the bot sends what came of it. */
export async function answerWebApp(
  { context, by }: Call,
  { query, result }: OperationOf<'answer_web_app'>,
): Promise<OperationResult> {
  const [row] = await context.db.query<{ readonly person: number; readonly native: number }>(
    `select w.person_id as person,
       coalesce(c.native, case when c.low_id = w.person_id then c.high_id else c.low_id end)
         as native
     from sandbox_web_app w join sandbox_chat c on c.id = w.chat_id
     where w.id = $1 and w.bot_id = $2 and not w.is_answered and w.expires_at > to_timestamp($3)`,
    [query, by.person, context.now() / 1000],
  )
  if (!row) throw tooOld()
  const { person, native } = row
  const bot = await botOf(context, by.person)
  const spot = await spotOf(context, person, bot.id, native)
  const signal = AbortSignal.timeout(FETCH_MS)
  const mark =
    'update sandbox_web_app set is_answered = true where id = $1 and not is_answered returning id'
  const sending = { person, bot, spot, result, answers: { id: query, mark } }
  const sent = await sendResult(context, sending, signal)
  return { kind: 'sent_inline', ...(sent.inline !== undefined && { inline: sent.inline }) }
}

const FETCH_MS = 20_000
