/** Which permission each content needs, and what a refusal calls it. */
import type { Content } from '../../../machines/model/content.ts'
import { type ContentName, contentName } from '../../../machines/model/content-name.ts'
import type { Permission } from '../../../machines/model/membership.ts'

const NEEDED: Readonly<Record<ContentName, readonly [needs: Permission, words: string]>> = {
  text: ['send_messages', 'text messages'],
  contact: ['send_messages', 'contacts'],
  location: ['send_messages', 'locations'],
  venue: ['send_messages', 'venues'],
  photo: ['send_photos', 'photos'],
  video: ['send_videos', 'videos'],
  video_note: ['send_video_notes', 'video notes'],
  voice: ['send_voice_notes', 'voice notes'],
  document: ['send_documents', 'documents'],
  audio: ['send_audios', 'music'],
  animation: ['send_other_messages', 'animations'],
  sticker: ['send_other_messages', 'stickers'],
  dice: ['send_other_messages', 'dice'],
  poll: ['send_polls', 'polls'],
}

/** Nothing for what the chat itself says. */
export function neededFor(content: Content): Permission | undefined {
  const name = contentName(content)
  return name === 'service' || name === 'unsupported' ? undefined : NEEDED[name][0]
}

/** What each of these lets members do; null: everything. */
export function mayCarry(
  limits: readonly (readonly Permission[] | null)[],
  content: Content,
): boolean {
  const needed = neededFor(content)
  return needed === undefined || limits.every((allowed) => allowed?.includes(needed) ?? true)
}

export function sendingWords(content: Content): string {
  const name = contentName(content)
  const words = name === 'service' || name === 'unsupported' ? 'messages' : NEEDED[name][1]
  return `send ${words} to the chat`
}

/** Of the member `m`: their own permissions while these last. */
export const MEMBER_PERMISSIONS =
  'case when m.until is null or m.until > now() then m.permissions end'

/** Of the member `m`, for the topic `tp` of a forum. */
export const MAY_WRITE_WHEN_CLOSED = `(
  m.role = 'owner' or tp.creator_id = m.person_id
  or m.role = 'admin' and (m.rights is null or 'manage_topics' = any(m.rights)))`
