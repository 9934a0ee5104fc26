/** What a message may contain, checked before anything is stored. */
import { failed } from '../../../actors/errors.ts'
import type { Content, Text } from '../../../machines/content.ts'
import { capabilities } from './capabilities.ts'

export function checkedContent(content: Content): Content {
  if (content.kind === 'service') return content
  if (content.kind !== 'text') {
    const kind = content.kind === 'media' ? content.media.kind : content.kind
    throw failed(
      'bad_request',
      `sending content of the kind ${kind} is not supported on the sandbox`,
    )
  }
  return { kind: 'text', ...checkedText(content) }
}

/** The database takes neither NUL nor half a surrogate pair; both keep their place, for the entities' sake. */
function checkedText({ text, entities }: Text): Text {
  const stored = text.replaceAll('\0', ' ').toWellFormed()
  if (stored.trim() === '') throw failed('bad_request', 'message text is empty')
  if (
    stored.length > capabilities.limits.textLength &&
    [...stored].length > capabilities.limits.textLength
  )
    throw failed('bad_request', 'message is too long')
  return { text: stored, entities }
}
