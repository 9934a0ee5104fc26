/** The names of message contents in capabilities and errors. */
import type { Content } from './content.ts'
import { MEDIA_KINDS } from './media.ts'

export const CONTENT_NAMES = [
  'text',
  ...MEDIA_KINDS,
  'location',
  'venue',
  'contact',
  'poll',
  'dice',
] as const

/** What few networks have. */
export const SPECIAL_CONTENT_NAMES = ['rich', 'checklist', 'invoice'] as const

export type ContentName = (typeof CONTENT_NAMES)[number] | (typeof SPECIAL_CONTENT_NAMES)[number]

export function contentName(content: Content): ContentName | 'service' | 'unsupported' {
  if (content.kind === 'media') return content.media.kind
  return content.kind === 'location' && content.venue ? 'venue' : content.kind
}
