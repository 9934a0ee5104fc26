/** A person uses a bot within another chat: inline mode, where they pick what it offers, and guest mode, where it writes. */

import type { Message } from '../../../machines/model/content.ts'
import { badRequest } from '../../../machines/model/failure.ts'
import type { Location } from '../../../machines/model/location.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type {
  InlineButton,
  InlineQuery,
  InlineResult,
} from '../../../machines/model/operation-inline.ts'
import type { Queryable } from '../../database/database.ts'
import { accessOf } from '../chats/access.ts'
import type { Hub } from '../delivery/hub.ts'
import { personOf } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import { storable } from '../messages/content.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { type OpenedWebApp, openWebApp, sendPrepared } from './prepared.ts'
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

const LIFETIME_SECONDS = 60

interface InlineAnswer {
  readonly results: readonly InlineResult[]
  readonly isPersonal: boolean
  readonly cacheSeconds: number
  readonly nextOffset: string
  readonly button?: InlineButton
}

interface Asking {
  readonly bot: Named
  readonly chat: Named
  readonly text: string
  readonly offset: string
  readonly location?: Location
}

interface Asked {
  readonly query: number
  /** Null when the bot did not answer in time. */
  readonly answer: InlineAnswer | null
}

interface Pick {
  readonly query: number
  readonly result: string
  readonly replyTo?: number
  readonly topic?: number
}

export class InlineMode {
  readonly #context: NetworkContext
  readonly #hub: Hub
  readonly #assertIn: (person: number) => Promise<void>

  /** `assertIn` rejects for a person of another network. */
  constructor(context: NetworkContext, hub: Hub, assertIn: (person: number) => Promise<void>) {
    this.#context = context
    this.#hub = hub
    this.#assertIn = assertIn
  }

  /** Writes to a bot in inline mode and waits for its answer until the signal aborts. */
  async ask(person: number, asking: Asking, signal: AbortSignal): Promise<Asked> {
    await this.#assertIn(person)
    const bot = await botOf(this.#context, await nativeOf(this.#context, asking.bot))
    const chat = await nativeOf(this.#context, asking.chat)
    const spot = await spotOf(this.#context, person, bot.id, chat)
    const { text, offset, location } = asking
    const query: InlineQuery = { text, offset, place: spot.place, ...(location && { location }) }
    const known = location ? null : await knownAnswer(this.#context.db, person, bot.id, query)
    const id = await this.#store(person, bot.id, spot, query, known)
    if (known) return { query: id, answer: known }
    const facts = { id: `${id}`, person: personOf(await this.#person(person)), query }
    const event = { kind: 'inline_query' as const, chat: spot.chat, actor: person, facts }
    await notify(this.#context, event, { people: [bot.id] })
    return { query: id, answer: await this.#hub.until(() => this.#answer(id), signal) }
  }

  /** Sends one of the results that the bot offered, to the chat in which the person asked for them. */
  async pick(person: number, picked: Pick, signal: AbortSignal): Promise<Message> {
    await this.#assertIn(person)
    const { db } = this.#context
    const [row] = await db.query<{
      readonly bot: number
      readonly query: InlineQuery
      readonly answer: InlineAnswer | null
      readonly native: number | null
    }>(
      `select q.bot_id as bot, q.query, q.answer,
         coalesce(c.native, case when c.low_id = $2 then c.high_id else c.low_id end) as native
       from sandbox_inline_query q join sandbox_chat c on c.id = q.chat_id
       where q.id = $1 and q.person_id = $2`,
      [picked.query, person],
    )
    const result = row?.answer?.results?.find(({ id }) => id === picked.result)
    if (!row || !result) throw badRequest('RESULT_ID_INVALID')
    const bot = await botOf(this.#context, row.bot)
    const spot = await spotOf(this.#context, person, bot.id, row.native!)
    const { query: _, result: __, ...terms } = picked
    const sent = await sendResult(this.#context, { person, bot, spot, result, ...terms }, signal)
    const { inline } = sent
    const facts = {
      result: result.id,
      person: personOf(await this.#person(person)),
      query: row.query,
      ...(inline !== undefined && { inline }),
    }
    const event = { kind: 'inline_choice' as const, chat: spot.chat, actor: person, facts }
    await notify(this.#context, event, { people: [bot.id] })
    return sent.message
  }

  /** Sends a message that a bot has prepared for this person. */
  async sendPrepared(person: number, id: string, to: Named, signal: AbortSignal): Promise<Message> {
    await this.#assertIn(person)
    return sendPrepared(this.#context, person, id, to, signal)
  }

  async openWebApp(person: number, at: Parameters<typeof openWebApp>[2]): Promise<OpenedWebApp> {
    await this.#assertIn(person)
    return openWebApp(this.#context, person, at)
  }

  async #store(
    person: number,
    bot: number,
    { chat }: Spot,
    query: InlineQuery,
    known: InlineAnswer | null,
  ): Promise<number> {
    const [row] = await this.#context.db.query<{ id: number }>(
      `insert into sandbox_inline_query (person_id, bot_id, chat_id, query, answer)
       values ($1, $2, $3, $4, $5) returning id`,
      [person, bot, chat, JSON.stringify(storable(query)), known && JSON.stringify(known)],
    )
    return row!.id
  }

  async #answer(query: number): Promise<InlineAnswer | null> {
    const [row] = await this.#context.db.query<{ answer: InlineAnswer | null }>(
      'select answer from sandbox_inline_query where id = $1',
      [query],
    )
    return row?.answer ?? null
  }

  #person(person: number) {
    return personNamed(this.#context.db, person)
  }
}

/** An earlier answer of the bot to the same words in a chat of the same kind, while it may be shown again. */
async function knownAnswer(
  db: Queryable,
  person: number,
  bot: number,
  query: InlineQuery,
): Promise<InlineAnswer | null> {
  const [row] = await db.query<{ answer: InlineAnswer }>(
    `select answer from sandbox_inline_query
     where bot_id = $1 and query ->> 'text' = $3 and query @> $4 and answer is not null
       and cached_until > now() and not query ? 'location'
       and (person_id = $2 or not (answer -> 'isPersonal')::boolean)
     order by cached_until desc limit 1`,
    [bot, person, query.text, JSON.stringify({ offset: query.offset, place: query.place })],
  )
  return row?.answer ?? null
}

export async function answerInline(
  { context: { db, wake }, by }: Call,
  { kind: _, query, ...answer }: OperationOf<'answer_inline'>,
): Promise<OperationResult> {
  const isId = /^\d{1,15}$/.test(query)
  const rows = await db.query(
    `update sandbox_inline_query
     set answer = $3, cached_until = now() + make_interval(secs => $4)
     where id = $1 and bot_id = $2 and answer is null and not query ? 'guest'
       and asked_at > now() - make_interval(secs => ${LIFETIME_SECONDS})
     returning id`,
    [isId ? query : null, by.person, JSON.stringify(storable(answer)), answer.cacheSeconds],
  )
  if (rows.length === 0) {
    throw tooOld()
  }
  wake([])
  return { kind: 'done' }
}

/** As many bots as one message can call. */
const MOST_GUESTS = 3

/** The bots that are named, know the network, and are neither in the chat nor banned there. */
const GUESTS = `
  select p.id from sandbox_person p
  where p.user_id = $1 and lower(p.username) = any($2) and p.sessions > 0 and p.id <> $3
    and not exists (select from sandbox_member m
      where m.chat_id = $4 and m.person_id = p.id and m.role <> 'left')
  order by p.id limit ${MOST_GUESTS}`

/** Calls the bots that a person has named in a chat which they are no members of. */
export async function callGuests(
  context: NetworkContext,
  person: number,
  letter: Message,
): Promise<void> {
  const { db, network } = context
  if (letter.chat.surface === 'channel' || letter.isProtected) return
  const names = namesIn(letter)
  if (names.length === 0) return
  const { chat } = await accessOf(db, person, Number(letter.chat.native))
  const bots = await db.query<{ id: number }>(GUESTS, [network, names, person, chat.id])
  for (const { id: bot } of bots) {
    const [row] = await db.query<{ id: number }>(
      `insert into sandbox_inline_query (person_id, bot_id, chat_id, query)
       values ($1, $2, $3, $4) returning id`,
      [person, bot, chat.id, JSON.stringify({ guest: Number(letter.native) })],
    )
    const event = { kind: 'guest_message' as const, chat: chat.id, actor: person }
    await notify(context, { ...event, facts: { id: `${row!.id}`, letter } }, { people: [bot] })
  }
}

function namesIn({ content }: Message): string[] {
  const written = content.kind === 'media' ? content.caption : content
  const text = 'text' in written && typeof written.text === 'string' ? written.text : ''
  return [...text.matchAll(/(?<![\w@])@(\w{4,32})/g)].map(([, name]) => name!.toLowerCase())
}

const FETCH_MS = 20_000

/** The message stands in the name of the bot; the rights of the person who called it decide whether it may. */
export async function answerGuest(
  { context, by }: Call,
  { query, result }: OperationOf<'answer_guest'>,
): Promise<OperationResult> {
  const isId = /^\d{1,15}$/.test(query)
  const [row] = await context.db.query<{
    readonly person: number
    readonly native: number
    readonly message: number
  }>(
    `select q.person_id as person, (q.query ->> 'guest')::bigint as message,
       coalesce(c.native, case when c.low_id = q.person_id then c.high_id else c.low_id end)
         as native
     from sandbox_inline_query q join sandbox_chat c on c.id = q.chat_id
     where q.id = $1 and q.bot_id = $2 and q.answer is null and q.query ? 'guest'
       and q.asked_at > now() - make_interval(secs => ${LIFETIME_SECONDS})`,
    [isId ? query : null, by.person],
  )
  if (!row) throw tooOld()
  const { person, native, message: replyTo } = row
  const bot = await botOf(context, by.person)
  const spot = await spotOf(context, person, bot.id, native)
  const signal = AbortSignal.timeout(FETCH_MS)
  const mark = `
    update sandbox_inline_query set answer = '{}' where id = $1 and answer is null returning id`
  const answers = { id: query, mark }
  const sending = { person, bot, spot, result, replyTo, isGuest: true as const, answers }
  const { inline } = await sendResult(context, sending, signal)
  return { kind: 'sent_inline', ...(inline !== undefined && { inline }) }
}
