/** What the content of a message is called in capabilities and errors. */
import type { Content, MediaKind } from './content.ts'

export type ContentName =
  | Exclude<Content['kind'], 'media' | 'service' | 'unsupported'>
  | MediaKind
  | 'venue'

export function contentName(content: Content): ContentName | 'service' | 'unsupported' {
  if (content.kind === 'media') return content.media.kind
  return content.kind === 'location' && content.venue ? 'venue' : content.kind
}
