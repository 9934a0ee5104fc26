/** What a message may contain, checked before anything is stored. */

import type { Content, MediaKind, Text } from '../../../machines/model/content.ts'
import { contentName } from '../../../machines/model/content-name.ts'
import { failed } from '../../../machines/model/failure.ts'
import { capabilities } from '../../platforms/sandbox/capabilities.ts'

const { textLength, captionLength } = capabilities.limits

/** Which media have no words beside them. */
const WORDLESS: readonly MediaKind[] = ['video_note', 'sticker']

export const takesCaption = (kind: MediaKind) => !WORDLESS.includes(kind)

export function checkedContent(given: Content): Content {
  const content = storable(given) as Content
  switch (content.kind) {
    case 'text':
      if (content.text.trim() === '') throw failed('bad_request', 'message text is empty')
      assertLength(content, textLength, 'message is too long')
      return content
    case 'media': {
      const { caption, captionAbove: _, ...rest } = content
      if (!takesCaption(content.media.kind)) return { ...rest, caption: { text: '', entities: [] } }
      checkCaption(caption)
      return content
    }
    case 'unsupported': {
      const kind = contentName(content)
      throw failed(
        'bad_request',
        `sending content of the kind ${kind} is not supported on the sandbox`,
      )
    }
    default:
      return content
  }
}

export function checkedCaption(caption: Text, limit: number = captionLength): Text {
  const stored = storable(caption) as Text
  checkCaption(stored, limit)
  return stored
}

/** Of what is still being written there may be nothing yet. */
export function checkedDraft(text: Text): Text {
  const stored = storable(text) as Text
  assertLength(stored, textLength, 'message is too long')
  return stored
}

const checkCaption = (caption: Text, limit: number = captionLength) =>
  assertLength(caption, limit, 'message caption is too long')

function assertLength({ text }: Text, limit: number, refusal: string): void {
  if (text.length > limit && [...text].length > limit) throw failed('bad_request', refusal)
}

/** The database takes neither NUL nor half a surrogate pair; both keep their place, for the entities' sake. */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', ' ').toWellFormed()
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, storable(part)]))
}
