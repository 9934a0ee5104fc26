/** All that a person can learn of a chat. */
import type { Chat, Media } from '../../../machines/model/content.ts'
import type { Permission } from '../../../machines/model/membership.ts'
import type { Database, Queryable } from '../../database/database.ts'
import { messageCard, type View, viewColumns, viewJoins } from '../delivery/cards.ts'
import { chatCondition } from '../delivery/natives.ts'
import { messageOf } from '../delivery/neutral.ts'
import { describe } from './find.ts'
import { primaryLink } from './invites.ts'
import { may, permissionsOf, standingOf } from './standing.ts'

interface Row {
  readonly id: number
  readonly photo: Media | null
  readonly permissions: readonly Permission[] | null
  readonly needsApproval: boolean
  readonly isInside: boolean
}

export async function detailsOf(db: Database, viewer: number, native: number): Promise<Chat> {
  const chat = await describe(db, viewer, native)
  return chat.surface === 'private'
    ? { ...chat, ...(await ofPerson(db, native)), ...(await pinnedIn(db, viewer, native)) }
    : { ...chat, ...(await ofGroup(db, viewer, native, chat.surface)) }
}

async function ofPerson(db: Queryable, person: number): Promise<Partial<Chat>> {
  const [row] = await db.query<{ about: string | null; photo: Media | null }>(
    `select about, (select photo from sandbox_photo where person_id = $1 order by id desc limit 1)
     from sandbox_person where id = $1`,
    [person],
  )
  return {
    ...(row?.about && { description: row.about }),
    ...(row?.photo && { photo: row.photo }),
  }
}

async function ofGroup(
  db: Database,
  viewer: number,
  native: number,
  surface: 'group' | 'supergroup' | 'channel',
): Promise<Partial<Chat>> {
  const [row] = await db.query<Row>(
    `select c.id, c.photo, c.permissions, c.join_by_request as "needsApproval", exists (select from sandbox_member m
       where m.chat_id = c.id and m.person_id = $2 and m.role not in ('left', 'kicked')) as "isInside"
     from sandbox_chat c where c.native = $1`,
    [native, viewer],
  )
  if (!row) return {}
  const photo = row.photo && { photo: row.photo }
  const permissions = surface !== 'channel' && {
    permissions: permissionsOf(surface, row.permissions),
  }
  const approval = row.needsApproval && { needsApproval: true }
  if (!row.isInside) return { ...photo, ...permissions, ...approval }
  const invites = may(await standingOf(db, viewer, native), 'invite_users')
  const link = invites ? await primaryLink({ db }, row.id, viewer) : undefined
  return {
    ...photo,
    ...permissions,
    ...approval,
    ...(link !== undefined && { inviteLink: link }),
    ...(await pinnedIn(db, viewer, native)),
  }
}

async function pinnedIn(db: Queryable, viewer: number, native: number): Promise<Partial<Chat>> {
  const [view] = await db.query<View>(
    `select ${messageCard('m')} as message, ${viewColumns}
     from sandbox_pin p
     join sandbox_message m on m.chat_id = p.chat_id and m.id = p.message_id and m.deleted_at is null
     ${viewJoins('m', '$1')}
     where ${chatCondition('$1', '$2')} order by p.at desc limit 1`,
    [viewer, native],
  )
  return view ? { pinned: messageOf(view) } : {}
}
