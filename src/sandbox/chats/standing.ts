/** What a person is in a chat, and what that lets them do. */
import { failed } from '../../../machines/model/failure.ts'
import { PERMISSIONS, type Permission, type Right } from '../../../machines/model/membership.ts'
import type { Queryable } from '../../database/database.ts'
import { type ChatCard, chatCard } from '../delivery/cards.ts'
import { chatCondition } from '../delivery/natives.ts'
import { MEMBER_PERMISSIONS } from '../messages/sending-rights.ts'
import type { Role } from './chats.ts'

export interface Standing {
  readonly chat: ChatCard
  readonly role: Role | null
  readonly rights: readonly Right[] | null
  /** Of ordinary members. */
  readonly permissions: readonly Permission[]
}

type Row = Omit<Standing, 'permissions'> & {
  readonly ownLimits: readonly Permission[] | null
  readonly chatLimits: readonly Permission[] | null
}

/** In a chat whose people know each other everybody may do everything. */
const BY_KIND: Readonly<Record<ChatCard['kind'], readonly Permission[]>> = {
  private: PERMISSIONS,
  group: PERMISSIONS,
  supergroup: PERMISSIONS.filter(
    (name) => !['change_info', 'pin_messages', 'manage_topics', 'edit_tag'].includes(name),
  ),
  channel: [],
}

export const permissionsOf = (kind: ChatCard['kind'], own: readonly Permission[] | null) =>
  own ?? BY_KIND[kind]

/** Rejects where there is no such chat for the person. */
export async function standingOf(db: Queryable, person: number, native: number): Promise<Standing> {
  const standing = await anyStanding(db, person, native)
  const { role, chat } = standing
  if (!isIn(role)) throw outside(chat.kind, role)
  return standing
}

/** The same for whoever only looks: a chat with a public name shows its members to all but the banned. */
export async function lookingStanding(
  db: Queryable,
  person: number,
  native: number,
): Promise<Standing> {
  const standing = await anyStanding(db, person, native)
  const { role, chat } = standing
  const isShown = isIn(role) || (role !== 'kicked' && chat.username !== null)
  if (!isShown) throw outside(chat.kind, role)
  return standing
}

const isIn = (role: Role | null) => role !== null && role !== 'left' && role !== 'kicked'

async function anyStanding(db: Queryable, person: number, native: number): Promise<Standing> {
  const [row] = await db.query<Row>(
    `select ${chatCard('c')} as chat, m.role, m.rights, ${MEMBER_PERMISSIONS} as "ownLimits",
       c.permissions as "chatLimits"
     from sandbox_chat c
     left join sandbox_member m on m.chat_id = c.id and m.person_id = $1
     where ${chatCondition('$1', '$2')}`,
    [person, native],
  )
  if (!row) throw failed('bad_request', 'chat not found')
  const { chat, ownLimits, chatLimits, ...rest } = row
  // Nobody is given what the chat forbids to all.
  const permissions = permissionsOf(chat.kind, chatLimits).filter(
    (name) => ownLimits?.includes(name) ?? true,
  )
  return { ...rest, chat, permissions }
}

/** Why there is nothing for whoever is not in a chat. */
export const outside = (kind: ChatCard['kind'], role: Role | null) =>
  failed(
    'forbidden',
    role === 'kicked'
      ? `bot was kicked from the ${kind} chat`
      : `bot is not a member of the ${kind} chat`,
  )

/** `permission`: with it ordinary members may, too. */
export function may(
  { role, rights, permissions, chat }: Standing,
  right: Right,
  permission?: Permission,
): boolean {
  if (role === 'owner' || chat.kind === 'private') return true
  if (role === 'admin') return rights ? rights.includes(right) : right !== 'promote_members'
  return permission !== undefined && permissions.includes(permission)
}

export function assertMay(
  standing: Standing,
  purpose: string,
  right: Right,
  permission?: Permission,
): void {
  if (may(standing, right, permission)) return
  throw failed(
    'bad_request',
    purpose === '' ? 'not enough rights' : `not enough rights to ${purpose}`,
  )
}

export function assertGroup({ chat }: Standing, change: string): void {
  if (chat.kind === 'private') throw failed('bad_request', `can't change private chat ${change}`)
}
