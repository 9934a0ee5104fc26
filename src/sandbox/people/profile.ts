/** The profile of the person who acts, and the profile photos of all people. */

import { failed } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { parseChatId } from '../delivery/mapping.ts'
import { SERVICE_PERSON } from '../delivery/rows.ts'
import { storedMedia } from '../files/files.ts'
import type { Call } from '../network/context.ts'
import { assertFreeUsernames, takenName } from '../network/members.ts'

const done: OperationResult = { kind: 'done' }

export async function setName(
  { context: { db }, by: { person } }: Call,
  { firstName, lastName }: OperationOf<'set_name'>,
): Promise<OperationResult> {
  await db.query('update sandbox_person set first_name = $2, last_name = $3 where id = $1', [
    ...[person, firstName, lastName ?? null],
  ])
  return done
}

export async function setAbout(
  { context: { db }, by: { person } }: Call,
  { about }: OperationOf<'set_about'>,
): Promise<OperationResult> {
  await db.query('update sandbox_person set about = $2 where id = $1', [person, about || null])
  return done
}

/** Letters, digits and underscores, as public names of groups; empty: none. */
export async function setUsername(
  { context, by: { person } }: Call,
  { username }: OperationOf<'set_username'>,
): Promise<OperationResult> {
  if (username !== '' && !/^[A-Za-z]\w{4,31}$/.test(username)) {
    throw failed('bad_request', 'USERNAME_INVALID')
  }
  await assertFreeUsernames(context, [{ username }], person)
  await context.db
    .query('update sandbox_person set username = $2 where id = $1', [person, username || null])
    .catch(takenName)
  return done
}

/** Without a photo it deletes the newest one. */
export async function setProfilePhoto(
  { context, by: { person } }: Call,
  { photo: given }: OperationOf<'set_profile_photo'>,
): Promise<OperationResult> {
  const { db } = context
  if (given) {
    const photo = await storedMedia(context, given, `person:${person}`)
    const insert = 'insert into sandbox_photo (person_id, photo) values ($1, $2)'
    await db.query(insert, [person, JSON.stringify(photo)])
  } else {
    await db.query(
      `delete from sandbox_photo where id =
         (select max(id) from sandbox_photo where person_id = $1)`,
      [person],
    )
  }
  return done
}

/** Newest first. */
export async function profilePhotos(
  { context: { db, network } }: Call,
  { person, offset, limit }: OperationOf<'profile_photos'>,
): Promise<OperationResult> {
  const id = parseChatId(person)
  const [known] = await db.query(
    `select from sandbox_person where id = $1 and (user_id = $2 or id = ${SERVICE_PERSON})`,
    [id, network],
  )
  if (!known) throw failed('bad_request', 'user not found')
  const rows = await db.query<{ photo: Media; total: number }>(
    `select photo, count(*) over ()::int as total from sandbox_photo
     where person_id = $1 order by id desc offset $2 limit $3`,
    [id, offset, limit],
  )
  return { kind: 'photos', total: rows[0]?.total ?? 0, photos: rows.map(({ photo }) => photo) }
}
