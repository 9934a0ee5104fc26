/** The account's own profile, and the photos of others. */

import type { Media } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import type { Doer, World } from '../../platforms/sandbox/operations.ts'
import { chatNative, SERVICE_PERSON } from '../delivery/natives.ts'
import { storedMedia } from '../files/files.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function changeProfile(
  world: World,
  { person }: Doer,
  operation: Of<'set_name' | 'set_about' | 'set_profile_photo'>,
): Promise<OperationResult> {
  const { db } = world
  switch (operation.kind) {
    case 'set_name':
      await db.query('update sandbox_person set first_name = $2, last_name = $3 where id = $1', [
        person,
        operation.firstName,
        operation.lastName ?? null,
      ])
      break
    case 'set_about':
      await db.query('update sandbox_person set about = $2 where id = $1', [
        person,
        operation.about || null,
      ])
      break
    case 'set_profile_photo':
      if (operation.photo) {
        const photo = await storedMedia(world, operation.photo, `person:${person}`)
        await db.query('insert into sandbox_photo (person_id, photo) values ($1, $2)', [
          person,
          JSON.stringify(photo),
        ])
      } else {
        await db.query(
          `delete from sandbox_photo where id =
             (select max(id) from sandbox_photo where person_id = $1)`,
          [person],
        )
      }
  }
  return { kind: 'done' }
}

/** Newest first. */
export async function profilePhotos(
  { db, network }: World,
  { person, offset, limit }: Of<'profile_photos'>,
): Promise<OperationResult> {
  const somebody = chatNative(person)
  const [known] = await db.query(
    `select from sandbox_person where id = $1 and (user_id = $2 or id = ${SERVICE_PERSON})`,
    [somebody, network],
  )
  if (!known) throw failed('bad_request', 'user not found')
  const rows = await db.query<{ photo: Media; total: number }>(
    `select photo, count(*) over ()::int as total from sandbox_photo
     where person_id = $1 order by id desc offset $2 limit $3`,
    [somebody, offset, limit],
  )
  return { kind: 'photos', total: rows[0]?.total ?? 0, photos: rows.map(({ photo }) => photo) }
}
