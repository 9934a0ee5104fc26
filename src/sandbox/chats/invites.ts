/** Invite links: made, changed and ended by administrators, each of whom has links of their own. */
import { randomBytes } from 'node:crypto'
import { failed } from '../../../machines/model/failure.ts'
import type { Invite } from '../../../machines/model/membership.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import type { Doer, World } from '../../platforms/sandbox/operations.ts'
import { type PersonCard, personCard } from '../delivery/cards.ts'
import { chatNative } from '../delivery/natives.ts'
import { personOf } from '../delivery/neutral.ts'
import { assertMay, type Standing, standingOf } from './standing.ts'
import { inTurn, type Turn } from './turn.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export interface StoredInvite {
  readonly link: string
  readonly chat_id: number
  readonly creator: PersonCard
  readonly name: string | null
  readonly is_primary: boolean
  readonly is_revoked: boolean
  readonly needs_approval: boolean
  readonly expires_at: number | null
  readonly member_limit: number | null
  /** How many are in the chat who came by it. */
  readonly members: number
  readonly requests: number
}

const bad = (description: string) => failed('bad_request', description)

const returning = (source: string) => `
  with found as (${source})
  select f.link, f.chat_id, f.name, f.is_primary, f.is_revoked, f.needs_approval, f.member_limit,
    floor(extract(epoch from f.expires_at))::bigint as expires_at, ${personCard('p')} as creator,
    (select count(*)::int from sandbox_member m
      where m.link = f.link and m.role not in ('left', 'kicked')) as members,
    (select count(*)::int from sandbox_join_request r where r.link = f.link) as requests
  from found f join sandbox_person p on p.id = f.creator_id`

export async function manageInvite(
  world: World,
  doer: Doer,
  operation: Of<'invite' | 'edit_invite' | 'revoke_invite'>,
): Promise<OperationResult> {
  const standing = await standingOf(world.db, doer.person, chatNative(operation.chat))
  assertInviting(standing)
  const place = { chat: standing.chat.id, person: doer.person }
  return inTurn(world, place, (turn) => change(turn, doer, standing, operation))
}

async function change(
  turn: Turn,
  doer: Doer,
  standing: Standing,
  operation: Of<'invite' | 'edit_invite' | 'revoke_invite'>,
): Promise<OperationResult> {
  const { db } = turn
  const chat = standing.chat.id
  if (operation.kind === 'invite') return found(await make(turn, doer, chat, operation))
  const before = await inviteBy(db, operation.link)
  if (before?.chat_id === chat && standing.role !== 'owner' && before.creator.id !== doer.person) {
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
  // An administrator is never without a primary link for long.
  const [ended] = revoked
  if (ended?.is_primary) await make(turn, { person: ended.creator.id }, chat, { primary: true })
  return found(revoked)
}

export async function inviteBy(db: Queryable, link: string): Promise<StoredInvite | undefined> {
  const [row] = await db.query<StoredInvite>(
    returning('select * from sandbox_invite where link = $1'),
    [link],
  )
  return row
}

/** The primary link that this administrator has made. */
export async function primaryLink(
  { db }: Pick<World, 'db'>,
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
  { db }: Turn,
  { person }: Doer,
  chat: number,
  operation: Omit<Of<'invite'>, 'kind' | 'chat'>,
) {
  if (operation.primary) {
    await db.query(
      `update sandbox_invite set is_revoked = true
       where chat_id = $1 and creator_id = $2 and is_primary`,
      [chat, person],
    )
  }
  const link = `https://sandbox.invalid/+${randomBytes(12).toString('base64url')}`
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
}: Omit<Of<'invite'>, 'kind' | 'chat' | 'primary'>) => [
  name ?? null,
  expiresAt ?? null,
  memberLimit ?? null,
  needsApproval ?? false,
]

function assertInviting(standing: Standing): void {
  if (standing.chat.kind === 'private') {
    throw bad('method is available for group, supergroup and channel chats only')
  }
  assertMay(standing, 'manage chat invite link', 'invite_users')
}

function found([row]: readonly StoredInvite[]): OperationResult {
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
})

const SHOWN_LENGTH = 'https://sandbox.invalid/+'.length + 8

/** Nobody can pass on the link of another administrator: they see its beginning. */
export const inviteSeenBy = (person: number, invite: Invite): Invite =>
  invite.creator.native === `${person}`
    ? invite
    : { ...invite, link: `${invite.link.slice(0, SHOWN_LENGTH)}...` }
