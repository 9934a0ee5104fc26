/** Joining a chat by an invite link or a public name: at once, or after an administrator or a bot has approved. */
import { randomBytes } from 'node:crypto'

import { failed, notFound } from '../../../machines/model/failure.ts'
import type { Invite } from '../../../machines/model/membership.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Community } from '../../../machines/model/person.ts'
import type { Queryable } from '../../database/database.ts'
import { parseChatId } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import type { ActingPerson, Call, NetworkContext } from '../network/context.ts'
import { accessOf, assertMay } from './access.ts'
import { inviteBy, inviteOf, type StoredInvite } from './invites.ts'
import { type ChatKey, changeMember, isInside, memberOf } from './members.ts'
import { beginSubscription, paySubscription } from './subscriptions.ts'
import { type ChatTransaction, lockChat } from './transaction.ts'

export type Joined = 'in' | 'asked'

interface FoundChat extends ChatKey {
  readonly asks: boolean
}

const bad = (description: string) => failed('bad_request', description)

/** `way` is an invite link, or the public name of a group or channel with its at sign. */
export async function joinChat(
  context: NetworkContext,
  person: number,
  way: string,
): Promise<Joined> {
  const { now } = context
  const isName = way.startsWith('@')
  const [chat] = await context.db.query<FoundChat>(
    isName
      ? `select id, native, kind, join_by_request as asks from sandbox_chat
         where user_id = $2 and lower(username) = lower($1)`
      : `select c.id, c.native, c.kind, false as asks from sandbox_chat c
         join sandbox_invite i on i.chat_id = c.id where i.link = $1 and c.user_id = $2`,
    [isName ? way.slice(1) : way, context.network],
  )
  if (!chat) throw isName ? notFound('chat') : bad('INVITE_HASH_EXPIRED')
  return lockChat(context, { chat: chat.id, person }, async (transaction) => {
    if (isName) return enter({ ...transaction, now }, chat, person, chat.asks)
    const row = await openInvite(transaction, way)
    // Paid before the person joins: who has too few Stars cannot join.
    await paySubscription(transaction.db, person, row)
    const joined = await enter({ ...transaction, now }, chat, person, row.needs_approval, {
      invite: inviteOf(row),
    })
    await beginSubscription(transaction.db, chat.id, person, row, now())
    return joined
  })
}

/** The facts of an invite link that a person sees before they follow it. */
export async function lookAtInvite(context: NetworkContext, link: string): Promise<InviteLook> {
  const [chat] = await context.db.query<{ title: string; kind: ChatKey['kind'] }>(
    `select c.title, c.kind from sandbox_chat c join sandbox_invite i on i.chat_id = c.id
     where i.link = $1 and c.user_id = $2`,
    [link, context.network],
  )
  if (!chat) throw bad('INVITE_HASH_EXPIRED')
  return { ...chat, invite: inviteOf(await openInvite(context, link)) }
}

interface InviteLook {
  readonly title: string
  readonly kind: ChatKey['kind']
  readonly invite: Invite
}

async function openInvite({ db }: { readonly db: Queryable }, link: string): Promise<StoredInvite> {
  const row = await inviteBy(db, link)
  const isFull = row?.member_limit != null && row.members >= row.member_limit
  const isOver = row?.expires_at != null && row.expires_at * 1_000 < Date.now()
  if (!row || row.is_revoked || isOver || isFull) throw bad('INVITE_HASH_EXPIRED')
  return row
}

/** Lets a person into the chat, or stores their request where the chat asks for one. */
export async function enter(
  { now, ...transaction }: ChatTransaction & Pick<NetworkContext, 'now'>,
  chat: ChatKey,
  person: number,
  asks: boolean,
  way: { readonly invite?: Invite; readonly community?: Community } = {},
): Promise<Joined> {
  const { invite } = way
  const { db } = transaction
  const member = await memberOf(db, chat.id, person)
  if (!member) throw failed('not_found', '')
  if (member.status === 'kicked') throw bad('USER_BANNED_IN_CHANNEL')
  if (isInside(member)) throw bad('USER_ALREADY_PARTICIPANT')
  if (!asks) {
    const change = { role: 'member', keepsLimits: true } as const
    await changeMember(transaction, { person }, chat, person, change, way)
    return 'in'
  }
  const [request] = await db.query<{ readonly query: string; readonly bot: number | null }>(
    `insert into sandbox_join_request (chat_id, person_id, link, at, query, bot_id)
     select $1, $2, $3, to_timestamp($4), $5, join_bot_id from sandbox_chat where id = $1
     on conflict (chat_id, person_id) do update set (link, at, query, bot_id, web_app_url) =
       (excluded.link, excluded.at, excluded.query, excluded.bot_id, null)
     returning query, bot_id as bot`,
    [chat.id, person, invite?.link ?? null, now() / 1000, randomBytes(12).toString('base64url')],
  )
  const [about] = await db.query<{ about: string | null }>(
    'select about from sandbox_person where id = $1',
    [person],
  )
  const facts = {
    person: member.person,
    ...(invite && { invite }),
    ...(about?.about && { bio: about.about }),
  }
  const { query, bot } = request!
  const asking = { kind: 'join_request' as const, chat: chat.id, actor: person }
  await notify(transaction, { ...asking, facts }, { administrators: true, except: bot })
  if (bot !== null) {
    await notify(transaction, { ...asking, facts: { ...facts, query } }, { people: [bot] })
  }
  return 'asked'
}

export async function answerJoin(
  { context, by }: Call,
  { chat, person, approves }: OperationOf<'answer_join'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  assertMay(access, 'manage chat join requests', 'invite_users')
  await decideJoin(context, by, access.chat, parseChatId(person), approves)
  return { kind: 'done' }
}

/** Rejects where the person has not asked, or no longer waits for the answer to this query. */
export async function decideJoin(
  context: NetworkContext,
  by: ActingPerson,
  place: ChatKey,
  asker: number,
  approves: boolean,
  query: string | null = null,
): Promise<void> {
  await lockChat(context, { chat: place.id, person: asker }, async (transaction) => {
    const { db } = transaction
    const [request] = await db.query<{ link: string | null }>(
      `delete from sandbox_join_request
       where chat_id = $1 and person_id = $2 and ($3::text is null or query = $3) returning link`,
      [place.id, asker, query],
    )
    if (!request) {
      const isMember = isInside(await memberOf(db, place.id, asker))
      throw bad(approves && isMember ? 'USER_ALREADY_PARTICIPANT' : 'HIDE_REQUESTER_MISSING')
    }
    if (!approves) return
    const row = request.link === null ? undefined : await inviteBy(db, request.link)
    const change = { role: 'member', keepsLimits: true } as const
    const way = row ? { invite: inviteOf(row) } : { viaRequest: true }
    await changeMember(transaction, by, place, asker, change, way)
  })
}
