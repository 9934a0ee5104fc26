/** Who is in a chat as what: looked up, changed, and told to those whom it concerns. */
import type { Service } from '../../../machines/model/content.ts'
import type { Invite, Member, Permission, Right } from '../../../machines/model/membership.ts'
import type { Queryable } from '../../database/database.ts'
import type { Doer } from '../../platforms/sandbox/operations.ts'
import { type PersonCard, personCard } from '../delivery/cards.ts'
import { SERVICE_PERSON } from '../delivery/natives.ts'
import { personOf } from '../delivery/neutral.ts'
import { tell } from '../delivery/telling.ts'
import { send } from '../messages/send.ts'
import { MEMBER_PERMISSIONS } from '../messages/sending-rights.ts'
import type { Role } from './chats.ts'
import type { Turn } from './turn.ts'

interface MemberRow {
  readonly person: PersonCard
  readonly role: Role | null
  readonly rights: readonly Right[] | null
  readonly title: string | null
  readonly is_anonymous: boolean | null
  readonly permissions: readonly Permission[] | null
  readonly until: number | null
}

export interface MemberChange {
  readonly role: Role
  readonly rights?: readonly Right[]
  readonly isAnonymous?: boolean
  readonly permissions?: readonly Permission[]
  /** Unix seconds. */
  readonly until?: number
  /** Whoever goes and comes again is limited as they were. */
  readonly keepsLimits?: boolean
}

export interface ChatPlace {
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

/** What was for a time only is over by itself. */
const member = `${personCard('p')} as person, m.rights, m.title, m.is_anonymous,
  case when m.until < now() and m.role = 'kicked' then 'left' else m.role end as role,
  case when m.until is null or m.until > now() then m.permissions end as permissions,
  floor(extract(epoch from m.until))::bigint as until`

/** Undefined when there is no such person in the chat's network. */
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
    (chat_id, person_id, role, rights, is_anonymous, permissions, until, link)
  values ($1, $2, $3, $4, $5, $6, to_timestamp($7), $9)
  on conflict (chat_id, person_id) do update set
    role = excluded.role, rights = excluded.rights, is_anonymous = excluded.is_anonymous,
    permissions = case when $8 then ${MEMBER_PERMISSIONS} else excluded.permissions end,
    until = case when not $8 then excluded.until when m.permissions is not null then m.until end,
    link = case when m.role in ('left', 'kicked') then excluded.link else m.link end`

/** How somebody came in. */
export interface Entry {
  readonly invite?: Invite
  /** They had asked for it without a link. */
  readonly viaRequest?: boolean
}

/** Stores the change, says in the chat who comes and goes, and tells the person and the administrators. */
export async function changeMember(
  turn: Turn,
  by: Doer,
  chat: ChatPlace,
  person: number,
  change: MemberChange,
  entry: Entry = {},
): Promise<void> {
  const { db } = turn
  const before = await memberOf(db, chat.id, person)
  const leaves = isInside(before) && (change.role === 'left' || change.role === 'kicked')
  // While they still are in: whoever is out can say nothing any more.
  if (before && leaves) await announce(turn, by, chat, { fact: 'left', person: before.person })
  await db.query(storing, [
    ...[chat.id, person, change.role, change.rights ?? null, change.isAnonymous ?? false],
    ...[change.permissions ?? null, change.until ?? null, change.keepsLimits ?? false],
    entry.invite?.link ?? null,
  ])
  if (change.role !== 'left') {
    await db.query('delete from sandbox_join_request where chat_id = $1 and person_id = $2', [
      ...[chat.id, person],
    ])
  }
  const after = await memberOf(db, chat.id, person)
  if (!before || !after) return
  if (!isInside(before) && isInside(after)) {
    await announce(turn, { person }, chat, { fact: 'joined', people: [after.person] })
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return
  const actor = await memberOf(db, chat.id, by.person)
  const facts = { by: (actor ?? after).person, before, after, ...entry }
  await tell(
    turn,
    { kind: 'member', chat: chat.id, actor: by.person, facts },
    { people: [person], administrators: true },
  )
}

/** Groups are told who comes and goes, also the one who did it; channels are not. */
async function announce(
  { db, outbox }: Turn,
  by: Doer,
  chat: ChatPlace,
  fact: Extract<Service, { fact: 'joined' | 'left' }>,
): Promise<void> {
  if (chat.kind === 'channel' || chat.native === null) return
  await send(db, outbox, {
    sender: by.person,
    native: chat.native,
    request: crypto.randomUUID(),
    content: { kind: 'service', ...fact },
  })
}

export const isInside = (member: Member | undefined) =>
  member !== undefined && member.status !== 'left' && member.status !== 'kicked'

function memberFrom(row: MemberRow): Member {
  const { role, rights, title, permissions, until } = row
  const status = STATUS[role ?? 'left']
  const isRestricted = status === 'member' && permissions !== null
  return {
    person: personOf(row.person),
    status: isRestricted ? 'restricted' : status,
    ...(status === 'administrator' && { rights: rights ?? ALL_BUT_PROMOTING }),
    ...(title !== null && { title }),
    ...(row.is_anonymous && { isAnonymous: true }),
    ...(isRestricted && { permissions }),
    ...(until !== null && (isRestricted || status === 'kicked') && { until }),
  }
}

const ALL_BUT_PROMOTING: readonly Right[] = [
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
