/** Requests to join a chat: who has asked where, and the bot that answers in the place of the administrators. */
import { failed, notFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { chatOf, personOf } from '../delivery/mapping.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { type ChatRow, chatJson, type PersonRow, personJson } from '../network/rows.ts'
import { accessOf, assertMay } from './access.ts'
import { decideJoin } from './joining.ts'

/** How long a bot has for its first answer. */
const ANSWER_SECONDS = 10

const bad = (description: string) => failed('bad_request', description)
const tooOld = () => bad('query is too old and response timeout expired or query ID is invalid')

/** Whether the request `r` still waits for the bot `$2`: with a web app in front of the person it waits longer. */
const OPEN = `r.query = $1 and r.bot_id = $2
  and (r.web_app_url is not null or r.at > to_timestamp($3) - interval '${ANSWER_SECONDS} seconds')`

export async function answerJoinQuery(
  { context, by }: Call,
  { query, decision }: OperationOf<'answer_join_query'>,
): Promise<OperationResult> {
  const { db, now } = context
  const open = [query, by.person, now() / 1000]
  const [asked] = await db.query<{ readonly person: number; readonly native: number }>(
    decision === 'queue'
      ? `update sandbox_join_request r set query = null, web_app_url = null
         from sandbox_chat c where ${OPEN} and c.id = r.chat_id
         returning r.person_id as person, c.native`
      : `select r.person_id as person, c.native
         from sandbox_join_request r join sandbox_chat c on c.id = r.chat_id where ${OPEN}`,
    open,
  )
  if (!asked) throw tooOld()
  if (decision === 'queue') return { kind: 'done' }
  const access = await accessOf(db, by.person, asked.native)
  assertMay(access, 'manage chat join requests', 'invite_users')
  await decideJoin(context, by, access.chat, asked.person, decision === 'approve', query)
  return { kind: 'done' }
}

export async function showJoinApp(
  { context: { db, now }, by }: Call,
  { query, url }: OperationOf<'show_join_app'>,
): Promise<OperationResult> {
  if (!url.startsWith('https://') || !URL.canParse(url)) throw bad('WEBAPP_URL_INVALID')
  const shown = await db.query(
    `update sandbox_join_request r set web_app_url = $4 where ${OPEN} returning r.person_id`,
    [query, by.person, now() / 1000, url],
  )
  if (shown.length === 0) throw tooOld()
  return { kind: 'done' }
}

/** From now on the bot answers those who ask to join; null: the administrators do. */
export async function assignJoinBot(
  { db }: NetworkContext,
  person: number,
  chat: number,
  bot: number | null,
): Promise<void> {
  const access = await accessOf(db, person, chat)
  assertMay(access, 'manage chat join requests', 'invite_users')
  if (access.chat.kind === 'private') throw notFound('chat')
  if (bot !== null) {
    assertMay(await accessOf(db, bot, chat), 'manage chat join requests', 'invite_users')
  }
  await db.query('update sandbox_chat set join_bot_id = $2 where id = $1', [access.chat.id, bot])
}

/** The chats that a person has asked to join, the oldest request first. */
export async function joinRequestsOf({ db }: NetworkContext, person: number) {
  const rows = await db.query<{
    readonly chat: ChatRow
    readonly at: number
    readonly app: string | null
    readonly bot: number | null
  }>(
    `select ${chatJson('c')} as chat, floor(extract(epoch from r.at))::bigint as at,
       r.web_app_url as app, r.bot_id as bot
     from sandbox_join_request r join sandbox_chat c on c.id = r.chat_id
     where r.person_id = $1 order by r.at, c.id limit 100`,
    [person],
  )
  return rows.map(({ chat, ...request }) => ({ ...request, chat: chatOf(chat, null) }))
}

/** The people who ask to join a chat, the oldest request first. Rejects for a person who may not answer them. */
export async function openRequestsOf({ db }: NetworkContext, person: number, chat: number) {
  const access = await accessOf(db, person, chat)
  assertMay(access, 'manage chat join requests', 'invite_users')
  const rows = await db.query<{
    readonly person: PersonRow
    readonly at: number
    readonly bio: string | null
  }>(
    `select ${personJson('p')} as person, floor(extract(epoch from r.at))::bigint as at,
       p.about as bio
     from sandbox_join_request r join sandbox_person p on p.id = r.person_id
     where r.chat_id = $1 order by r.at, p.id limit 100`,
    [access.chat.id],
  )
  return rows.map(({ person, ...request }) => ({ ...request, person: personOf(person) }))
}
