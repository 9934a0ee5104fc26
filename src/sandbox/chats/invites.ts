/** Invite links: each administrator makes, changes and revokes their own. */

import { randomBytes } from 'node:crypto'
import { failed } from '../../../machines/model/failure.ts'
import type { Invite } from '../../../machines/model/membership.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { INVITE_ADDRESS } from '../delivery/event-page.ts'
import { parseChatId, personOf } from '../delivery/mapping.ts'
import type { ActingPerson, Call, NetworkContext } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'
import { accessOf, assertMay, type ChatAccess } from './access.ts'
import { type ChatTransaction, lockChat } from './transaction.ts'

export interface StoredInvite {
  readonly link: string
  readonly chat_id: number
  readonly creator: PersonRow
  readonly name: string | null
  readonly is_primary: boolean
  readonly is_revoked: boolean
  readonly needs_approval: boolean
  readonly expires_at: number | null
  readonly member_limit: number | null
  readonly subscription_seconds: number | null
  readonly subscription_stars: number | null
  /** The number of members who came by this link. */
  readonly members: number
  readonly requests: number
}

const bad = (description: string) => failed('bad_request', description)

/** `source` is a statement about `sandbox_invite` that returns rows of it whole. */
export const returning = (source: string) => `
  with found as (${source})
  select f.link, f.chat_id, f.name, f.is_primary, f.is_revoked, f.needs_approval, f.member_limit,
    f.subscription_seconds, f.subscription_stars,
    floor(extract(epoch from f.expires_at))::bigint as expires_at, ${personJson('p')} as creator,
    (select count(*)::int from sandbox_member m
      where m.link = f.link and m.role not in ('left', 'kicked')) as members,
    (select count(*)::int from sandbox_join_request r where r.link = f.link) as requests
  from found f join sandbox_person p on p.id = f.creator_id`

export async function manageInvite(
  { context, by }: Call,
  operation: OperationOf<'invite' | 'edit_invite' | 'revoke_invite'>,
): Promise<OperationResult> {
  const access = await accessOf(context.db, by.person, parseChatId(operation.chat))
  assertInviting(access)
  const place = { chat: access.chat.id, person: by.person }
  return lockChat(context, place, (transaction) => change(transaction, by, access, operation))
}

async function change(
  transaction: ChatTransaction,
  by: ActingPerson,
  access: ChatAccess,
  operation: OperationOf<'invite' | 'edit_invite' | 'revoke_invite'>,
): Promise<OperationResult> {
  const { db } = transaction
  const chat = access.chat.id
  if (operation.kind === 'invite') return found(await make(transaction, by, chat, operation))
  const before = await inviteBy(db, operation.link)
  if (before?.chat_id === chat && access.role !== 'owner' && before.creator.id !== by.person) {
    throw bad('CHAT_ADMIN_REQUIRED')
  }
  if (operation.kind === 'edit_invite') {
    return found(
      await db.query<StoredInvite>(
        returning(`update sandbox_invite set name = $3, expires_at = to_timestamp($4),
          member_limit = $5, needs_approval = $6
          where link = $1 and chat_id = $2 and not is_revoked and not is_primary returning *`),
        [operation.link, chat, ...termsOf(operation)],
      ),
    )
  }
  const revoked = await db.query<StoredInvite>(
    returning(`update sandbox_invite set is_revoked = true
      where link = $1 and chat_id = $2 and not is_revoked returning *`),
    [operation.link, chat],
  )
  // An administrator always has a primary link.
  const [ended] = revoked
  if (ended?.is_primary)
    await make(transaction, { person: ended.creator.id }, chat, { primary: true })
  return found(revoked)
}

export async function inviteBy(db: Queryable, link: string): Promise<StoredInvite | undefined> {
  const [row] = await db.query<StoredInvite>(
    returning('select * from sandbox_invite where link = $1'),
    [link],
  )
  return row
}

/** The primary link of this administrator. */
export async function primaryLink(
  { db }: Pick<NetworkContext, 'db'>,
  chat: number,
  person: number,
): Promise<string | undefined> {
  const [row] = await db.query<{ link: string }>(
    `select link from sandbox_invite
     where chat_id = $1 and creator_id = $2 and is_primary and not is_revoked`,
    [chat, person],
  )
  return row?.link
}

async function make(
  { db }: ChatTransaction,
  { person }: ActingPerson,
  chat: number,
  operation: Omit<OperationOf<'invite'>, 'kind' | 'chat'>,
) {
  if (operation.primary) {
    await db.query(
      `update sandbox_invite set is_revoked = true
       where chat_id = $1 and creator_id = $2 and is_primary`,
      [chat, person],
    )
  }
  const link = `${INVITE_ADDRESS}${randomBytes(12).toString('base64url')}`
  return db.query<StoredInvite>(
    returning(`insert into sandbox_invite
      (link, chat_id, name, expires_at, member_limit, needs_approval, creator_id, is_primary)
      values ($1, $2, $3, to_timestamp($4), $5, $6, $7, $8) returning *`),
    [link, chat, ...termsOf(operation), person, operation.primary],
  )
}

const termsOf = ({
  name,
  expiresAt,
  memberLimit,
  needsApproval,
}: Omit<OperationOf<'invite'>, 'kind' | 'chat' | 'primary'>) => [
  name ?? null,
  expiresAt ?? null,
  memberLimit ?? null,
  needsApproval ?? false,
]

function assertInviting(access: ChatAccess): void {
  if (access.chat.kind === 'private') {
    throw bad("can't invite members to a private chat")
  }
  assertMay(access, 'manage chat invite link', 'invite_users')
}

export function found([row]: readonly StoredInvite[]): OperationResult {
  if (!row) throw bad('INVITE_HASH_EXPIRED')
  return { kind: 'invite', invite: inviteOf(row) }
}

export const inviteOf = (row: StoredInvite): Invite => ({
  link: row.link,
  creator: personOf(row.creator),
  isPrimary: row.is_primary,
  isRevoked: row.is_revoked,
  needsApproval: row.needs_approval,
  ...(row.name !== null && { name: row.name }),
  ...(row.expires_at !== null && { expiresAt: row.expires_at }),
  ...(row.member_limit !== null && { memberLimit: row.member_limit }),
  ...(row.requests > 0 && { pendingRequests: row.requests }),
  ...(row.subscription_seconds !== null && {
    subscription: { seconds: row.subscription_seconds, stars: row.subscription_stars ?? 0 },
  }),
})
