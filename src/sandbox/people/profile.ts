/** The profile of the person who acts, and the profile photos and the profile music of all people. */

import { failed, notFound } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { parseChatId } from '../delivery/mapping.ts'
import { storedMedia } from '../files/files.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { assertFreeUsernames, takenName } from '../network/members.ts'
import { SERVICE_PERSON } from '../network/rows.ts'

const done: OperationResult = { kind: 'done' }

export async function setName(
  { context: { db }, by: { person } }: Call,
  { firstName, lastName }: OperationOf<'set_name'>,
): Promise<OperationResult> {
  await db.query('update sandbox_person set first_name = $2, last_name = $3 where id = $1', [
    ...[person, firstName, lastName || null],
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

interface Page {
  readonly rows: readonly Media[]
  readonly total: number
}

/** Newest first. */
async function page(
  { context: { db, network } }: Call,
  { person, offset, limit }: OperationOf<'profile_photos' | 'profile_audios'>,
  shown: 'photo' | 'audio',
): Promise<Page> {
  const id = parseChatId(person)
  const [known] = await db.query(
    `select from sandbox_person where id = $1 and (user_id = $2 or id = ${SERVICE_PERSON})`,
    [id, network],
  )
  if (!known) throw notFound('user')
  const rows = await db.query<{ media: Media }>(
    `select ${shown} as media from sandbox_${shown}
     where person_id = $1 order by id desc offset $2 limit $3`,
    [id, offset, limit],
  )
  // Beside the page, since a page after the last one has no row to say it.
  const [all] = await db.query<{ total: number }>(
    `select count(*)::int as total from sandbox_${shown} where person_id = $1`,
    [id],
  )
  return { rows: rows.map(({ media }) => media), total: all?.total ?? 0 }
}

export async function profilePhotos(
  call: Call,
  operation: OperationOf<'profile_photos' | 'profile_audios'>,
): Promise<OperationResult> {
  const { rows, total } = await page(call, operation, 'photo')
  return { kind: 'photos', total, photos: rows }
}

export async function profileAudios(
  call: Call,
  operation: OperationOf<'profile_photos' | 'profile_audios'>,
): Promise<OperationResult> {
  const { rows, total } = await page(call, operation, 'audio')
  return { kind: 'audios', total, audios: rows }
}

export interface ProfileAudio {
  readonly id: string
  readonly audio: Media
}

const MOST_AUDIOS = 100

/** The music of profiles, as their people see and change it. */
export class ProfileAudios {
  readonly #context: NetworkContext
  readonly #assertIn: (person: number) => Promise<void>

  /** `assertIn` rejects for a person of another network. */
  constructor(context: NetworkContext, assertIn: (person: number) => Promise<void>) {
    this.#context = context
    this.#assertIn = assertIn
  }

  /** Newest first. */
  async list(person: number): Promise<ProfileAudio[]> {
    await this.#assertIn(person)
    return this.#context.db.query<ProfileAudio>(
      'select id, audio from sandbox_audio where person_id = $1 order by id desc',
      [person],
    )
  }

  async add(person: number, given: Media): Promise<ProfileAudio> {
    await this.#assertIn(person)
    const audio = await storedMedia(this.#context, given, `person:${person}`)
    const [added] = await this.#context.db.query<ProfileAudio>(
      `insert into sandbox_audio (person_id, audio) select $1, $2::jsonb
       where (select count(*) from sandbox_audio where person_id = $1) < ${MOST_AUDIOS}
       returning id, audio`,
      [person, JSON.stringify(audio)],
    )
    if (!added) throw failed('bad_request', `a profile has at most ${MOST_AUDIOS} pieces of music`)
    return added
  }

  async remove(person: number, audio: string): Promise<void> {
    await this.#assertIn(person)
    const removed = await this.#context.db.query(
      'delete from sandbox_audio where id = $1 and person_id = $2 returning id',
      [audio, person],
    )
    if (removed.length === 0)
      throw failed('not_found', 'audio not found', { reason: 'audio_not_found' })
  }
}
