/** Joining a chat by an invite link or a public name: at once, or after an administrator has approved. */

import { failed } from '../../../machines/model/failure.ts'
import type { Invite } from '../../../machines/model/membership.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { parseChatId } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { accessOf, assertMay } from './access.ts'
import { inviteBy, inviteOf, type StoredInvite } from './invites.ts'
import { type ChatKey, changeMember, isInside, memberOf } from './members.ts'
import { beginSubscription, paySubscription } from './subscriptions.ts'
import { type ChatTransaction, lockChat } from './transaction.ts'

type Joined = 'in' | 'asked'

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
  const isName = way.startsWith('@')
  const [chat] = await context.db.query<FoundChat>(
    isName
      ? `select id, native, kind, join_by_request as asks from sandbox_chat
         where user_id = $2 and lower(username) = lower($1)`
      : `select c.id, c.native, c.kind, false as asks from sandbox_chat c
         join sandbox_invite i on i.chat_id = c.id where i.link = $1 and c.user_id = $2`,
    [isName ? way.slice(1) : way, context.network],
  )
  if (!chat) throw bad(isName ? 'chat not found' : 'INVITE_HASH_EXPIRED')
  return lockChat(context, { chat: chat.id, person }, async (transaction) => {
    if (isName) return enter(transaction, chat, person, chat.asks)
    const row = await openInvite(transaction, way)
    // Before the person is in: without Stars nobody joins.
    await paySubscription(transaction.db, person, row)
    const joined = await enter(transaction, chat, person, row.needs_approval, inviteOf(row))
    await beginSubscription(transaction.db, chat.id, person, row)
    return joined
  })
}

async function openInvite({ db }: ChatTransaction, link: string): Promise<StoredInvite> {
  const row = await inviteBy(db, link)
  const isFull = row?.member_limit != null && row.members >= row.member_limit
  const isOver = row?.expires_at != null && row.expires_at * 1_000 < Date.now()
  if (!row || row.is_revoked || isOver || isFull) throw bad('INVITE_HASH_EXPIRED')
  return row
}

async function enter(
  transaction: ChatTransaction,
  chat: ChatKey,
  person: number,
  asks: boolean,
  invite?: Invite,
): Promise<Joined> {
  const { db } = transaction
  const member = await memberOf(db, chat.id, person)
  if (!member) throw failed('not_found', '')
  if (member.status === 'kicked') throw bad('USER_BANNED_IN_CHANNEL')
  if (isInside(member)) throw bad('USER_ALREADY_PARTICIPANT')
  const way = invite && { invite }
  if (!asks) {
    const change = { role: 'member', keepsLimits: true } as const
    await changeMember(transaction, { person }, chat, person, change, way)
    return 'in'
  }
  await db.query(
    `insert into sandbox_join_request (chat_id, person_id, link) values ($1, $2, $3)
     on conflict (chat_id, person_id) do update set link = excluded.link, at = now()`,
    [chat.id, person, invite?.link ?? null],
  )
  const [about] = await db.query<{ about: string | null }>(
    'select about from sandbox_person where id = $1',
    [person],
  )
  const facts = { person: member.person, ...way, ...(about?.about && { bio: about.about }) }
  await notify(
    transaction,
    { kind: 'join_request', chat: chat.id, actor: person, facts },
    { administrators: true },
  )
  return 'asked'
}

export async function answerJoin(
  { context, by }: Call,
  { chat, person, approves }: OperationOf<'answer_join'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(chat))
  assertMay(access, 'manage chat join requests', 'invite_users')
  const asker = parseChatId(person)
  const place = access.chat
  await lockChat(context, { chat: place.id, person: asker }, async (transaction) => {
    const { db } = transaction
    const [request] = await db.query<{ link: string | null }>(
      'delete from sandbox_join_request where chat_id = $1 and person_id = $2 returning link',
      [place.id, asker],
    )
    if (!request) throw bad('HIDE_REQUESTER_MISSING')
    if (!approves) return
    const row = request.link === null ? undefined : await inviteBy(db, request.link)
    const change = { role: 'member', keepsLimits: true } as const
    const way = row ? { invite: inviteOf(row) } : { viaRequest: true }
    await changeMember(transaction, by, place, asker, change, way)
  })
  return { kind: 'done' }
}
