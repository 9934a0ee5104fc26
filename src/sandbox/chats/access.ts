/** The role of a person in a chat, and the actions that it allows. */
import { failed, notFound } from '../../../machines/model/failure.ts'
import { PERMISSIONS, type Permission, type Right } from '../../../machines/model/rights.ts'
import type { Queryable } from '../../database/database.ts'
import { type ChatRow, chatCondition, chatJson } from '../network/rows.ts'

export type Role = 'owner' | 'admin' | 'member' | 'left' | 'kicked'

export interface ChatAccess {
  readonly chat: ChatRow
  readonly role: Role | null
  readonly rights: readonly Right[] | null
  /** The permissions of ordinary members, without those that this one lost. */
  readonly permissions: readonly Permission[]
}

type Row = Omit<ChatAccess, 'permissions'> & {
  readonly ownLimits: readonly Permission[] | null
  readonly chatLimits: readonly Permission[] | null
}

/** The permissions of members where the chat sets none. */
const BY_KIND: Readonly<Record<ChatRow['kind'], readonly Permission[]>> = {
  private: PERMISSIONS,
  group: PERMISSIONS,
  supergroup: PERMISSIONS.filter(
    (name) => !['change_info', 'pin_messages', 'manage_topics', 'edit_tag'].includes(name),
  ),
  channel: [],
}

export const permissionsOf = (kind: ChatRow['kind'], own: readonly Permission[] | null) =>
  own ?? BY_KIND[kind]

/** Rejects for a person who is not in the chat. */
export async function accessOf(db: Queryable, person: number, native: number): Promise<ChatAccess> {
  const access = await findAccess(db, person, native)
  const { role, chat } = access
  if (!isIn(role)) throw outside(chat.kind, role)
  return access
}

/** As `accessOf`, to read only: a chat with a public name shows its members to everybody who is not banned. */
export async function readAccessOf(
  db: Queryable,
  person: number,
  native: number,
): Promise<ChatAccess> {
  const access = await findAccess(db, person, native)
  const { role, chat } = access
  const isShown = isIn(role) || (role !== 'kicked' && chat.username !== null)
  if (!isShown) throw outside(chat.kind, role)
  return access
}

const isIn = (role: Role | null) => role !== null && role !== 'left' && role !== 'kicked'

async function findAccess(db: Queryable, person: number, native: number): Promise<ChatAccess> {
  const [row] = await db.query<Row>(
    `select ${chatJson('c')} as chat, m.role, m.rights, ${MEMBER_PERMISSIONS} as "ownLimits",
       c.permissions as "chatLimits"
     from sandbox_chat c
     left join sandbox_member m on m.chat_id = c.id and m.person_id = $1
     where ${chatCondition('$1', '$2')}`,
    [person, native],
  )
  if (!row) throw notFound('chat')
  const { chat, ownLimits, chatLimits, ...rest } = row
  // The limits of one member cannot allow more than the chat does.
  const permissions = permissionsOf(chat.kind, chatLimits).filter(
    (name) => ownLimits?.includes(name) ?? true,
  )
  return { ...rest, chat, permissions }
}

/** The refusal for a person who is not in the chat. */
export const outside = (kind: ChatRow['kind'], role: Role | null) =>
  failed(
    'forbidden',
    role === 'kicked'
      ? `bot was kicked from the ${kind} chat`
      : `bot is not a member of the ${kind} chat`,
  )

/** Administrators need `right`; ordinary members need `permission`, and may not at all where it is absent. */
export function may(
  { role, rights, permissions, chat }: ChatAccess,
  right: Right,
  permission?: Permission,
): boolean {
  if (role === 'owner' || chat.kind === 'private') return true
  if (role === 'admin') return rights ? rights.includes(right) : right !== 'promote_members'
  return permission !== undefined && permissions.includes(permission)
}

export function assertMay(
  access: ChatAccess,
  purpose: string,
  right: Right,
  permission?: Permission,
): void {
  if (may(access, right, permission)) return
  throw failed(
    'bad_request',
    purpose === '' ? 'not enough rights' : `not enough rights to ${purpose}`,
  )
}

/** SQL: whether the member `m` of a chat has a right of administrators. */
export const hasRight = (right: Right) => `(m.role = 'owner' or m.role = 'admin'
  and (m.rights is null or '${right}' = any(m.rights)))`

/** Rejects unless the chat is the conversation of this person with a channel. */
export function assertDirectTopic({ direct }: ChatRow, topic: string | undefined): void {
  if (topic === undefined) return
  if (!direct) {
    throw failed('bad_request', 'chat is not an administered channel direct messages chat')
  }
  if (topic !== `${direct.id}`) throw notFound('direct messages topic')
}

export function assertGroup({ chat }: ChatAccess, change: string): void {
  if (chat.kind === 'private') throw failed('bad_request', `can't change private chat ${change}`)
}

/** SQL: the own permissions of the member `m`, while their time is not over. */
export const MEMBER_PERMISSIONS =
  'case when m.until is null or m.until > now() then m.permissions end'

/** SQL: whether the member `m` may write to the topic `tp` while it is closed. */
export const MAY_WRITE_WHEN_CLOSED = `(
  m.role = 'owner' or tp.creator_id = m.person_id
  or m.role = 'admin' and (m.rights is null or 'manage_topics' = any(m.rights)))`

/** The newest messages of a chat among which those of a member in slow mode are looked for. */
const SLOW_MODE_LOOKS_BACK = 10_000

/** SQL: when `member` last wrote to the chat `c`, while slow mode lets them wait for it. */
export const lastInSlowMode = (member: string) => `case when c.slow_mode > 0 then (
  select max(sm.at) from sandbox_message sm
  where sm.chat_id = c.id and sm.id > c.last_message - ${SLOW_MODE_LOOKS_BACK}
    and sm.sender_id = ${member} and sm.content ->> 'kind' <> 'service'
    and sm.at > now() - make_interval(secs => c.slow_mode)) end`

/** SQL: whether the one with the id `native` is a bot that keeps `sender` out. */
export const keepsOut = (native: string, sender: string) => `exists (
  select from sandbox_managed_bot mb
  where mb.bot_id = ${native} and mb.is_restricted and mb.owner_id <> ${sender}
    and mb.manager_id <> ${sender} and not ${sender} = any(mb.added))`
