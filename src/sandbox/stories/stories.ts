/** Stories: a person posts them, and the people who have talked to them see them for a time. */

import { failed, notFound, readBack } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Person } from '../../../machines/model/person.ts'
import type { Text } from '../../../machines/model/text.ts'
import type { Queryable } from '../../database/database.ts'
import { whyMissing } from '../chats/find-message.ts'
import { parseChatId, personOf, privateChatWith } from '../delivery/mapping.ts'
import { holderOf, releaseFiles, storedMedia, withFileHolds } from '../files/files.ts'
import { checkedCaption } from '../messages/content.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'

/** The limits of the reference. */
const CAPTION_LENGTH = 2048
const FILM_BYTES = 31_457_280
const FILM_SECONDS = 60

export interface SeenStory {
  readonly id: number
  readonly person: Person
  readonly media: Media
  readonly caption: Text
  readonly at: Date
  readonly expiresAt: Date
  readonly isKept: boolean
  readonly isProtected: boolean
}

/** A repeated request finds the story of the first one. */
export async function postStory(
  { context, by: { person }, request }: Call,
  { media, caption, activeSeconds, isKept, isProtected }: OperationOf<'post_story'>,
): Promise<OperationResult> {
  const before = await postedBefore(context.db, person, request)
  if (before !== undefined) return storyResult(context.db, person, before)
  assertFits(media)
  const words = checkedCaption(caption, CAPTION_LENGTH)
  const holder = holderOf(person, request)
  const id = await withFileHolds(context, [holder], async () => {
    const stored = await storedMedia(context, media, holder)
    const [row] = await context.db.query<{ id: number }>(posting, [
      ...[person, request, JSON.stringify(stored), JSON.stringify(words)],
      ...[context.now() / 1000, activeSeconds, isKept ?? false, isProtected ?? false],
    ])
    return row ? row.id : (await postedBefore(context.db, person, request))!
  })
  return readBack(storyResult(context.db, person, id))
}

const posting = `
  with numbered as (
    update sandbox_person set stories = stories + 1 where id = $1 returning stories
  )
  insert into sandbox_story
    (person_id, id, request_id, media, caption, at, expires_at, is_kept, is_protected)
  select $1, stories, $2, $3, $4, to_timestamp($5),
    to_timestamp($5) + make_interval(secs => $6), $7, $8
  from numbered
  on conflict (person_id, request_id) do nothing returning id`

export async function deleteStory(
  { context, by: { person } }: Call,
  { story: id }: OperationOf<'delete_story'>,
): Promise<OperationResult> {
  const [row] = await context.db.query<{ request_id: string }>(
    'delete from sandbox_story where person_id = $1 and id = $2 returning request_id',
    [person, id],
  )
  if (!row) throw notFound('story')
  await releaseFiles(context, holderOf(person, row.request_id))
  return { kind: 'done' }
}

/** Replaces the file and the caption; the time of the story stays. */
export async function editStory(
  { context, by: { person } }: Call,
  { story: id, media, caption }: OperationOf<'edit_story'>,
): Promise<OperationResult> {
  assertFits(media)
  const words = checkedCaption(caption, CAPTION_LENGTH)
  const [row] = await context.db.query<{ request_id: string }>(
    'select request_id from sandbox_story where person_id = $1 and id = $2',
    [person, id],
  )
  if (!row) throw notFound('story')
  const stored = await storedMedia(context, media, holderOf(person, row.request_id))
  await context.db.query(
    'update sandbox_story set media = $3, caption = $4 where person_id = $1 and id = $2',
    [person, id, JSON.stringify(stored), JSON.stringify(words)],
  )
  return readBack(storyResult(context.db, person, id))
}

/** Only stories of other businesses that the account acts for; protected ones cannot be passed on. */
export async function repostStory(
  call: Call,
  { from, story, ...terms }: OperationOf<'repost_story'>,
): Promise<OperationResult> {
  const { context, by, business } = call
  const author = parseChatId(from)
  const links = await context.business.of([author])
  const acts = links.some(({ account }) => account === (business?.account ?? by.person))
  if (!acts && author !== by.person) {
    const otherwise = failed('bad_request', 'STORY_NOT_ALLOWED')
    throw await whyMissing(context.db, by.person, author, otherwise)
  }
  const [found] = await context.db.query<{ media: Media; caption: Text; isProtected: boolean }>(
    `select media, caption, is_protected as "isProtected" from sandbox_story
     where person_id = $1 and id = $2`,
    [author, story],
  )
  if (!found) throw notFound('story')
  if (found.isProtected) throw failed('bad_request', 'STORY_PROTECTED')
  const { media, caption } = found
  return postStory(call, { ...terms, kind: 'post_story', media, caption })
}

/** The stories that a person sees, newest first: all of their own, and the current ones of people they have talked to. */
export async function storiesFor(
  { db, now }: Pick<NetworkContext, 'db' | 'now'>,
  person: number,
  limit: number,
): Promise<SeenStory[]> {
  const rows = await db.query<Omit<SeenStory, 'person'> & { readonly person: PersonRow }>(
    `select s.id, ${personJson('p')} as person, s.media, s.caption, s.at,
       s.expires_at as "expiresAt", s.is_kept as "isKept", s.is_protected as "isProtected"
     from sandbox_story s join sandbox_person p on p.id = s.person_id
     where s.person_id = $1 or (
       (s.expires_at > to_timestamp($2) or s.is_kept) and not p.deactivated and not p.banned
       and exists (select from sandbox_chat c where c.last_message > 0
         and c.low_id = least($1, s.person_id) and c.high_id = greatest($1, s.person_id))
       and not exists (select from sandbox_block b
         where b.person_id = s.person_id and b.blocked_id = $1
           or b.person_id = $1 and b.blocked_id = s.person_id))
     order by s.at desc, s.person_id, s.id desc limit $3`,
    [person, now() / 1000, limit],
  )
  return rows.map((row) => ({ ...row, person: personOf(row.person) }))
}

/** An unreadable film arrives as a document. */
function assertFits({ kind, size = 0, durationSeconds = 0 }: Media): void {
  if (kind === 'photo') return
  if (kind !== 'video' && kind !== 'animation') throw failed('bad_request', 'MEDIA_FILE_INVALID')
  if (size > FILM_BYTES) throw failed('bad_request', 'file is too big')
  if (durationSeconds > FILM_SECONDS) {
    throw failed('bad_request', `the video of a story is at most ${FILM_SECONDS} seconds long`)
  }
}

async function postedBefore(db: Queryable, person: number, request: string) {
  const [row] = await db.query<{ id: number }>(
    'select id from sandbox_story where person_id = $1 and request_id = $2',
    [person, request],
  )
  return row?.id
}

async function storyResult(db: Queryable, person: number, id: number): Promise<OperationResult> {
  const [row] = await db.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p where p.id = $1`,
    [person],
  )
  return { kind: 'story', story: { chat: privateChatWith(row!.person), id } }
}
