/** Finds and changes the members of a chat, and notifies the people concerned. */

import type { Service } from '../../../machines/model/content.ts'
import type { Invite, Member } from '../../../machines/model/membership.ts'
import type { Community } from '../../../machines/model/person.ts'
import type { Permission, Right } from '../../../machines/model/rights.ts'
import type { Queryable } from '../../database/database.ts'
import { personOf } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import type { ActingPerson } from '../network/context.ts'
import { type PersonRow, personJson, SERVICE_PERSON } from '../network/rows.ts'
import { MEMBER_PERMISSIONS, type Role } from './access.ts'
import { announce, type ChatTransaction } from './transaction.ts'

interface MemberRow {
  readonly person: PersonRow
  readonly role: Role | null
  readonly rights: readonly Right[] | null
  readonly title: string | null
  readonly tag: string | null
  readonly is_anonymous: boolean | null
  readonly promoted_by: number | null
  readonly permissions: readonly Permission[] | null
  readonly until: number | null
  readonly subscribedUntil: number | null
}

interface MemberChange {
  readonly role: Role
  readonly rights?: readonly Right[]
  readonly isAnonymous?: boolean
  readonly permissions?: readonly Permission[]
  /** Unix seconds. */
  readonly until?: number
  /** The limits stay, also when the person leaves and comes again. */
  readonly keepsLimits?: boolean
}

export interface ChatKey {
  readonly id: number
  readonly native: number | null
  readonly kind: string
}

const STATUS: Readonly<Record<Role, Member['status']>> = {
  owner: 'creator',
  admin: 'administrator',
  member: 'member',
  left: 'left',
  kicked: 'kicked',
}

/** A ban or limits whose time is over count no more. */
const member = `${personJson('p')} as person, m.rights, m.title, m.tag, m.is_anonymous,
  m.promoted_by,
  case when m.until < now() and m.role = 'kicked' then 'left' else m.role end as role,
  case when m.until is null or m.until > now() then m.permissions end as permissions,
  floor(extract(epoch from m.until))::bigint as until,
  floor(extract(epoch from m.subscribed_until))::bigint as "subscribedUntil"`

/** Undefined where the chat's network has no such person. A person who was never in the chat has `left`. */
export async function memberOf(
  db: Queryable,
  chat: number,
  person: number,
): Promise<Member | undefined> {
  const [row] = await db.query<MemberRow>(
    `select ${member} from sandbox_person p
     left join sandbox_member m on m.person_id = p.id and m.chat_id = $1
     where p.id = $2 and (p.id = ${SERVICE_PERSON}
       or p.user_id = (select user_id from sandbox_chat where id = $1))`,
    [chat, person],
  )
  return row && memberFrom(row)
}

/** The people who are in a chat, by their ids. */
export async function membersOf(db: Queryable, chat: number): Promise<number[]> {
  const rows = await db.query<{ person_id: number }>(
    `select person_id from sandbox_member where chat_id = $1 and role not in ('left', 'kicked')`,
    [chat],
  )
  return rows.map(({ person_id }) => person_id)
}

export async function administratorsOf(db: Queryable, chat: number): Promise<Member[]> {
  const rows = await db.query<MemberRow>(
    `select ${member} from sandbox_member m join sandbox_person p on p.id = m.person_id
     where m.chat_id = $1 and m.role in ('owner', 'admin') order by m.role desc, p.id`,
    [chat],
  )
  return rows.map(memberFrom)
}

export async function countMembers(db: Queryable, chat: number): Promise<number> {
  const [row] = await db.query<{ members: number }>(
    `select count(*)::int as members from sandbox_member
     where chat_id = $1 and role not in ('left', 'kicked')`,
    [chat],
  )
  return row?.members ?? 0
}

const storing = `
  insert into sandbox_member as m
    (chat_id, person_id, role, rights, is_anonymous, permissions, until, link, promoted_by,
      read_up_to)
  values ($1, $2, $3, $4, $5, $6, to_timestamp($7), $9, $10,
    (select last_message from sandbox_chat where id = $1))
  on conflict (chat_id, person_id) do update set
    role = excluded.role, rights = excluded.rights, is_anonymous = excluded.is_anonymous,
    permissions = case when $8 then ${MEMBER_PERMISSIONS} else excluded.permissions end,
    until = case when not $8 then excluded.until when m.permissions is not null then m.until end,
    link = case when m.role in ('left', 'kicked') then excluded.link else m.link end,
    promoted_by = case when m.role = 'admin' and excluded.role = 'admin' then m.promoted_by
      else excluded.promoted_by end,
    read_up_to = case when m.role in ('left', 'kicked') then excluded.read_up_to else m.read_up_to end`

/** Administrators of a channel who may answer its direct messages are in each conversation. */
const SYNC_DIRECT_MESSAGES = `
  insert into sandbox_member as m (chat_id, person_id, role, rights, read_up_to)
  select d.id, a.person_id, case
      when a.role = 'owner' then 'owner'
      when a.role = 'admin' and (a.rights is null or 'manage_direct_messages' = any(a.rights))
        then 'admin'
      else 'left' end, a.rights, d.last_message
  from sandbox_chat d join sandbox_member a on a.chat_id = d.direct_of
  where d.direct_of = $1 and a.person_id <> d.direct_person
    and (a.role in ('owner', 'admin') or exists (select from sandbox_member known
      where known.chat_id = d.id and known.person_id = a.person_id))
  on conflict (chat_id, person_id) do update set role = excluded.role, rights = excluded.rights`

/** Call it after the administrators of a channel have changed. */
export async function syncDirectMessages(db: Queryable, channel: number): Promise<void> {
  await db.query(SYNC_DIRECT_MESSAGES, [channel])
}

/** The way by which a person came in. */
interface Entry {
  readonly invite?: Invite
  /** An administrator answered their request, which had no link. */
  readonly viaRequest?: boolean
  readonly community?: Community
}

/** Stores the change, announces in the chat a person who comes or goes, and notifies the person and the administrators. */
export async function changeMember(
  transaction: ChatTransaction,
  by: ActingPerson,
  chat: ChatKey,
  person: number,
  change: MemberChange,
  { community, ...entry }: Entry = {},
): Promise<void> {
  const { db } = transaction
  const before = await memberOf(db, chat.id, person)
  const leaves = isInside(before) && (change.role === 'left' || change.role === 'kicked')
  // Before the change: a person who has left cannot write to the chat.
  if (before && leaves)
    await announceMember(transaction, by, chat, { fact: 'left', person: before.person })
  await db.query(storing, [
    ...[chat.id, person, change.role, change.rights ?? null, change.isAnonymous ?? false],
    ...[change.permissions ?? null, change.until ?? null, change.keepsLimits ?? false],
    entry.invite?.link ?? null,
    change.role === 'admin' && by.person !== person ? by.person : null,
  ])
  if (chat.kind === 'channel') await syncDirectMessages(db, chat.id)
  if (change.role !== 'left') {
    await db.query('delete from sandbox_join_request where chat_id = $1 and person_id = $2', [
      ...[chat.id, person],
    ])
  }
  const after = await memberOf(db, chat.id, person)
  if (!before || !after) return
  if (!isInside(before) && isInside(after)) {
    const fact = community
      ? ({ fact: 'community_joined', community } as const)
      : ({ fact: 'joined', people: [after.person] } as const)
    await announceMember(transaction, { person }, chat, fact)
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return
  const actor = await memberOf(db, chat.id, by.person)
  const facts = { by: (actor ?? after).person, before, after, ...entry }
  await notify(
    transaction,
    { kind: 'member', chat: chat.id, actor: by.person, facts },
    { people: [person], administrators: true },
  )
}

/** An empty text takes the title or tag away. The person and the administrators are notified. */
export async function retitleMember(
  transaction: ChatTransaction,
  by: ActingPerson,
  { id: chat }: ChatKey,
  person: number,
  { title, tag }: { readonly title?: string; readonly tag?: string },
): Promise<void> {
  const { db } = transaction
  const before = await memberOf(db, chat, person)
  const [column, text] = title === undefined ? ['tag', tag] : ['title', title]
  await db.query(`update sandbox_member set ${column} = $3 where chat_id = $1 and person_id = $2`, [
    chat,
    person,
    text || null,
  ])
  const after = await memberOf(db, chat, person)
  const actor = await memberOf(db, chat, by.person)
  if (!before || !after || !actor || JSON.stringify(before) === JSON.stringify(after)) return
  const facts = { by: actor.person, before, after }
  const event = { kind: 'member' as const, chat, actor: by.person, facts }
  await notify(transaction, event, { people: [person], administrators: true })
}

/** Notifies the people whom the founder has put into a new chat. */
export async function notifyFirstMembers(
  transaction: ChatTransaction,
  chat: number,
  founder: number,
): Promise<void> {
  const { db } = transaction
  const by = await memberOf(db, chat, founder)
  const listeners = await db.query<{ id: number }>(
    `select p.id from sandbox_member m join sandbox_person p on p.id = m.person_id
     where m.chat_id = $1 and p.id <> $2 and p.sessions > 0 order by p.id`,
    [chat, founder],
  )
  for (const { id } of listeners) {
    const after = await memberOf(db, chat, id)
    if (!by || !after) continue
    const facts = {
      by: by.person,
      before: { person: after.person, status: 'left' as const },
      after,
    }
    await notify(transaction, { kind: 'member', chat, actor: founder, facts }, { people: [id] })
  }
}

/** Channels have no service messages about their members. */
async function announceMember(
  transaction: ChatTransaction,
  by: ActingPerson,
  { kind, native }: ChatKey,
  fact: Extract<Service, { fact: 'joined' | 'left' | 'community_joined' }>,
): Promise<void> {
  if (kind !== 'channel' && native !== null) await announce(transaction, by, native, fact)
}

export const isInside = (member: Member | undefined) =>
  member !== undefined && member.status !== 'left' && member.status !== 'kicked'

function memberFrom(row: MemberRow): Member {
  const { role, rights, title, tag, permissions, until } = row
  const status = STATUS[role ?? 'left']
  const isRestricted = status === 'member' && permissions !== null
  return {
    person: personOf(row.person),
    status: isRestricted ? 'restricted' : status,
    ...(status === 'administrator' && {
      rights: rights ?? ALL_BUT_PROMOTING,
      ...(row.promoted_by !== null && { promotedBy: `${row.promoted_by}` }),
    }),
    ...(title !== null && { title }),
    ...(tag !== null && { tag }),
    ...(row.is_anonymous && { isAnonymous: true }),
    ...(isRestricted && { permissions }),
    ...(status === 'member' && row.subscribedUntil !== null && { until: row.subscribedUntil }),
    ...(until !== null && (isRestricted || status === 'kicked') && { until }),
  }
}

export const ALL_BUT_PROMOTING: readonly Right[] = [
  'manage_chat',
  'delete_messages',
  'manage_video_chats',
  'restrict_members',
  'change_info',
  'invite_users',
  'post_messages',
  'edit_messages',
  'pin_messages',
  'manage_topics',
]
