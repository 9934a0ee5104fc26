/** Finds chats by public name or id and people by phone, and collects all that a person can learn about one. */

import type { Chat } from '../../../machines/model/content.ts'
import { notFound } from '../../../machines/model/failure.ts'
import type { AcceptedGifts } from '../../../machines/model/gift.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Community } from '../../../machines/model/person.ts'
import type { Permission } from '../../../machines/model/rights.ts'
import type { Database, Queryable } from '../../database/database.ts'
import {
  chatOf,
  messageOf,
  parseChatId,
  personOf,
  privateChatWith,
  withoutHiddenVotes,
} from '../delivery/mapping.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import {
  type ChatRow,
  chatCondition,
  chatJson,
  type MessageView,
  messageJson,
  type PersonRow,
  personJson,
  SERVICE_PERSON,
  viewColumns,
  viewJoins,
} from '../network/rows.ts'
import { accessOf, may, outside, permissionsOf } from './access.ts'
import { primaryLink } from './invites.ts'

export async function resolve(
  { context }: Call,
  { name }: OperationOf<'resolve'>,
): Promise<OperationResult> {
  return { kind: 'chat', chat: await findByName(context, name) }
}

export async function describe(
  { context, by }: Call,
  { chat }: OperationOf<'describe'>,
): Promise<OperationResult> {
  return { kind: 'chat', chat: await detailsOf(context.db, by.person, parseChatId(chat)) }
}

/** A deactivated person is not found. */
export async function resolvePhone(
  { context: { db, network } }: Call,
  { phone }: OperationOf<'resolve_phone'>,
): Promise<OperationResult> {
  const [row] = await db.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p
     where p.user_id = $1 and p.phone = $2 and not p.deactivated`,
    [network, phone],
  )
  return { kind: 'person', ...(row && { person: personOf(row.person) }) }
}

interface Found {
  readonly person: PersonRow | null
  readonly chat: ChatRow | null
}

const finding = (person: string, chat: string) => `
  select ${personJson('p')} as person, null::jsonb as chat
  from sandbox_person p where ${person}
  union all
  select null, ${chatJson('c')} from sandbox_chat c where ${chat}`

/** Finds a chat or person of the network by the public name, given without the at sign. */
export async function findByName(
  { db, network }: Pick<NetworkContext, 'db' | 'network'>,
  name: string,
): Promise<Chat> {
  const condition = 'user_id = $2 and lower(username) = lower($1)'
  return chatFrom(await db.query<Found>(finding(condition, condition), [name, network]))
}

/** A group without a public name is found only by its members. */
async function findById(db: Queryable, viewer: number, native: number): Promise<Chat> {
  await assertNotOut(db, viewer, native)
  const mine = '(select user_id from sandbox_person where id = $2)'
  const visible = `(c.username is not null or exists (select from sandbox_member m
    where m.chat_id = c.id and m.person_id = $2 and m.role not in ('left', 'kicked')))`
  const text = finding(
    `p.id = $1 and (p.user_id = ${mine} or p.id = ${SERVICE_PERSON})`,
    `c.native = $1 and c.user_id = ${mine} and ${visible}`,
  )
  return chatFrom(await db.query<Found>(text, [native, viewer]))
}

/** A former member gets the reason why they cannot see the chat. */
async function assertNotOut(db: Queryable, viewer: number, native: number): Promise<void> {
  const [former] = await db.query<{ kind: ChatRow['kind']; isOpen: boolean; isBanned: boolean }>(
    `select c.kind, c.username is not null as "isOpen",
       m.role = 'kicked' and coalesce(m.until > now(), true) as "isBanned"
     from sandbox_chat c join sandbox_member m on m.chat_id = c.id and m.person_id = $2
     where c.native = $1 and m.role in ('left', 'kicked')`,
    [native, viewer],
  )
  if (former?.isBanned) throw outside(former.kind, 'kicked')
  if (former && !former.isOpen) throw outside(former.kind, 'left')
}

function chatFrom([first]: readonly Found[]): Chat {
  if (first?.person) return privateChatWith(first.person)
  if (!first?.chat) throw notFound('chat')
  return chatOf(first.chat, null)
}

interface GroupRow {
  readonly id: number
  readonly photo: Media | null
  readonly permissions: readonly Permission[] | null
  readonly needsApproval: boolean
  readonly stickerSet: string | null
  readonly isInside: boolean
  readonly parent: ChatRow | null
  readonly community: Community | null
  readonly slowSeconds: number
}

async function detailsOf(db: Database, viewer: number, native: number): Promise<Chat> {
  const chat = await findById(db, viewer, native)
  return chat.surface === 'private'
    ? { ...chat, ...(await ofPerson(db, native)), ...(await pinnedIn(db, viewer, native)) }
    : { ...chat, ...(await ofGroup(db, viewer, native, chat.surface)) }
}

/** By default a person accepts all gifts. */
const EVERY_GIFT: AcceptedGifts = {
  unlimited: true,
  limited: true,
  unique: true,
  premium: true,
  fromChannels: true,
}

async function ofPerson(db: Queryable, person: number): Promise<Partial<Chat>> {
  const [row] = await db.query<{
    about: string | null
    photo: Media | null
    status: Chat['emojiStatus'] | null
    accepted: AcceptedGifts | null
    personal: ChatRow | null
  }>(
    `select about, case when coalesce((emoji_status ->> 'until')::bigint, 1e18)
         > extract(epoch from now()) then emoji_status end as status,
       (select photo from sandbox_photo where person_id = $1 order by id desc limit 1),
       (select ${chatJson('c')} from sandbox_chat c where c.id = personal_chat_id) as personal,
       gift_settings -> 'accepted' as accepted
     from sandbox_person where id = $1`,
    [person],
  )
  return {
    ...(row?.about && { description: row.about }),
    ...(row?.photo && { photo: row.photo }),
    acceptedGifts: row?.accepted ?? EVERY_GIFT,
    ...(row?.status && { emojiStatus: row.status }),
    ...(row?.personal && { personal: chatOf(row.personal, null) }),
  }
}

async function ofGroup(
  db: Database,
  viewer: number,
  native: number,
  surface: 'group' | 'supergroup' | 'channel',
): Promise<Partial<Chat>> {
  const [row] = await db.query<GroupRow>(
    `select c.id, c.photo, c.permissions, c.join_by_request as "needsApproval",
       c.sticker_set as "stickerSet", c.slow_mode as "slowSeconds", exists (select from sandbox_member m
       where m.chat_id = c.id and m.person_id = $2 and m.role not in ('left', 'kicked')) as "isInside",
       (select ${chatJson('pc')} from sandbox_chat pc where pc.id = c.direct_of) as parent,
       (select jsonb_build_object('id', x.id, 'name', x.name) from sandbox_community x
         where x.id = c.community_id) as community
     from sandbox_chat c where c.native = $1`,
    [native, viewer],
  )
  if (!row) return {}
  const photo = row.photo && { photo: row.photo }
  const permissions = surface !== 'channel' && {
    permissions: permissionsOf(surface, row.permissions),
  }
  const approval = {
    ...(row.needsApproval && { needsApproval: true }),
    ...(row.parent && { parent: chatOf(row.parent, null) }),
    ...(row.community && { community: row.community }),
    ...(row.stickerSet !== null && { stickerSet: row.stickerSet }),
    ...(row.slowSeconds > 0 && { slowSeconds: row.slowSeconds }),
  }
  if (!row.isInside) return { ...photo, ...permissions, ...approval }
  const access = await accessOf(db, viewer, native)
  const invites = may(access, 'invite_users')
  const link = invites ? await primaryLink({ db }, row.id, viewer) : undefined
  return {
    ...photo,
    ...permissions,
    ...approval,
    ...(link !== undefined && { inviteLink: link }),
    ...(surface === 'supergroup' && may(access, 'change_info') && { maySetStickers: true }),
    ...(await pinnedIn(db, viewer, native)),
  }
}

async function pinnedIn(db: Queryable, viewer: number, native: number): Promise<Partial<Chat>> {
  const [view] = await db.query<MessageView>(
    `select ${messageJson('m')} as message, ${viewColumns}
     from sandbox_pin p
     join sandbox_message m on m.chat_id = p.chat_id and m.id = p.message_id and m.deleted_at is null
     ${viewJoins('m', '$1')}
     where ${chatCondition('$1', '$2')} order by p.at desc limit 1`,
    [viewer, native],
  )
  if (!view) return {}
  return { pinned: withoutHiddenVotes(messageOf(view), view.message.sender_id === viewer) }
}
