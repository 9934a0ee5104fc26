/** Invite links: made, changed, ended, followed; and those who ask to come in. */
import { randomBytes } from 'node:crypto'
import { failed } from '../../../actors/errors.ts'
import type { Invite } from '../../../machines/membership.ts'
import type { Operation, OperationResult } from '../../../machines/operation.ts'
import { type PersonCard, personCard } from './cards.ts'
import { type ChatPlace, changeMember, isInside, memberOf } from './membership.ts'
import { chatNative } from './natives.ts'
import { personOf } from './neutral.ts'
import type { Doer, World } from './operations.ts'
import { assertMay, type Standing, standingOf } from './standing.ts'
import { tell } from './telling.ts'
import { inTurn, type Turn } from './turn.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

interface Row {
  readonly link: string
  readonly chat_id: number
  readonly creator: PersonCard
  readonly name: string | null
  readonly is_primary: boolean
  readonly is_revoked: boolean
  readonly needs_approval: boolean
  readonly expires_at: number | null
  readonly member_limit: number | null
  readonly joined: number
  readonly requests: number
}

const bad = (description: string) => failed('bad_request', description)

const returning = (source: string) => `
  with found as (${source})
  select f.link, f.chat_id, f.name, f.is_primary, f.is_revoked, f.needs_approval, f.member_limit,
    f.joined, floor(extract(epoch from f.expires_at))::bigint as expires_at,
    ${personCard('p')} as creator,
    (select count(*)::int from sandbox_join_request r where r.link = f.link) as requests
  from found f join sandbox_person p on p.id = f.creator_id`

export async function manageInvite(
  world: World,
  doer: Doer,
  operation: Of<'invite' | 'edit_invite' | 'revoke_invite'>,
): Promise<OperationResult> {
  const standing = await standingOf(world.db, doer.person, chatNative(operation.chat))
  assertInviting(standing)
  const chat = standing.chat.id
  return inTurn(world, { chat, person: doer.person }, (turn) => change(turn, doer, chat, operation))
}

async function change(
  turn: Turn,
  doer: Doer,
  chat: number,
  operation: Of<'invite' | 'edit_invite' | 'revoke_invite'>,
): Promise<OperationResult> {
  const { db } = turn
  switch (operation.kind) {
    case 'invite':
      return found(await make(turn, doer, chat, operation))
    case 'edit_invite':
      return found(
        await db.query<Row>(
          returning(`update sandbox_invite set name = $3, expires_at = to_timestamp($4),
            member_limit = $5, needs_approval = $6
            where link = $1 and chat_id = $2 and not is_revoked and not is_primary returning *`),
          [operation.link, chat, ...termsOf(operation)],
        ),
      )
    case 'revoke_invite': {
      const revoked = await db.query<Row>(
        returning(`update sandbox_invite set is_revoked = true
          where link = $1 and chat_id = $2 and not is_revoked returning *`),
        [operation.link, chat],
      )
      // A chat is never without a primary link for long.
      if (revoked[0]?.is_primary) await make(turn, doer, chat, { primary: true })
      return found(revoked)
    }
  }
}

/** Somebody follows a link: they are in, or they have asked to be. */
export async function follow(world: World, person: number, link: string): Promise<'in' | 'asked'> {
  const [chat] = await world.db.query<ChatPlace>(
    `select c.id, c.native, c.kind from sandbox_chat c
     join sandbox_invite i on i.chat_id = c.id where i.link = $1`,
    [link],
  )
  if (!chat) throw bad('INVITE_HASH_EXPIRED')
  return inTurn(world, { chat: chat.id, person }, (turn) => enter(turn, chat, person, link))
}

async function enter(
  turn: Turn,
  chat: ChatPlace,
  person: number,
  link: string,
): Promise<'in' | 'asked'> {
  const { db } = turn
  const [row] = await db.query<Row>(returning('select * from sandbox_invite where link = $1'), [
    link,
  ])
  const isFull = row?.member_limit != null && row.joined >= row.member_limit
  const isOver = row?.expires_at != null && row.expires_at * 1_000 < Date.now()
  if (!row || row.is_revoked || isOver || isFull) throw bad('INVITE_HASH_EXPIRED')
  const member = await memberOf(db, chat.id, person)
  if (!member) throw failed('not_found', '')
  if (member.status === 'kicked') throw bad('USER_BANNED_IN_CHANNEL')
  if (isInside(member)) throw bad('USER_ALREADY_PARTICIPANT')
  const invite = inviteOf(row)
  if (!row.needs_approval) {
    await db.query('update sandbox_invite set joined = joined + 1 where link = $1', [link])
    const change = { role: 'member', keepsLimits: true } as const
    await changeMember(turn, { person }, chat, person, change, invite)
    return 'in'
  }
  await db.query(
    `insert into sandbox_join_request (chat_id, person_id, link) values ($1, $2, $3)
     on conflict (chat_id, person_id) do update set link = excluded.link, at = now()`,
    [chat.id, person, link],
  )
  const [about] = await db.query<{ about: string | null }>(
    'select about from sandbox_person where id = $1',
    [person],
  )
  const facts = { person: member.person, invite, ...(about?.about && { bio: about.about }) }
  await tell(
    turn,
    { kind: 'join_request', chat: chat.id, actor: person, facts },
    { administrators: true },
  )
  return 'asked'
}

export async function answerJoin(
  world: World,
  doer: Doer,
  { chat, person, approves }: Of<'answer_join'>,
): Promise<OperationResult> {
  const standing = await standingOf(world.db, doer.person, chatNative(chat))
  assertMay(standing, 'manage chat join requests', 'invite_users')
  const asker = chatNative(person)
  const place = standing.chat
  await inTurn(world, { chat: place.id, person: asker }, async (turn) => {
    const { db } = turn
    const [request] = await db.query<{ link: string }>(
      'delete from sandbox_join_request where chat_id = $1 and person_id = $2 returning link',
      [place.id, asker],
    )
    if (!request) throw bad('HIDE_REQUESTER_MISSING')
    if (!approves) return
    const [row] = await db.query<Row>(
      returning('update sandbox_invite set joined = joined + 1 where link = $1 returning *'),
      [request.link],
    )
    const change = { role: 'member', keepsLimits: true } as const
    await changeMember(turn, doer, place, asker, change, row && inviteOf(row))
  })
  return { kind: 'done' }
}

/** The primary link of a chat, for those who may invite. */
export async function primaryLink(
  { db }: Pick<World, 'db'>,
  chat: number,
): Promise<string | undefined> {
  const [row] = await db.query<{ link: string }>(
    'select link from sandbox_invite where chat_id = $1 and is_primary and not is_revoked',
    [chat],
  )
  return row?.link
}

async function make(
  { db }: Turn,
  doer: Doer,
  chat: number,
  operation: Omit<Of<'invite'>, 'kind' | 'chat'>,
) {
  if (operation.primary) {
    await db.query(
      'update sandbox_invite set is_revoked = true where chat_id = $1 and is_primary',
      [chat],
    )
  }
  const link = `https://sandbox.invalid/+${randomBytes(12).toString('base64url')}`
  return db.query<Row>(
    returning(`insert into sandbox_invite
      (link, chat_id, name, expires_at, member_limit, needs_approval, creator_id, is_primary)
      values ($1, $2, $3, to_timestamp($4), $5, $6, $7, $8) returning *`),
    [link, chat, ...termsOf(operation), doer.person, operation.primary],
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

function found([row]: readonly Row[]): OperationResult {
  if (!row) throw bad('INVITE_HASH_EXPIRED')
  return { kind: 'invite', invite: inviteOf(row) }
}

const inviteOf = (row: Row): Invite => ({
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
