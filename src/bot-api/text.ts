/** The text of a call with its formatting, as neutral content. */
import { failed } from '../../actors/errors.ts'
import type { Text, TextEntity } from '../../machines/content.ts'
import type { Arguments } from './arguments.ts'
import { FormatError } from './entities/error.ts'
import { formatText } from './entities/format.ts'
import type { MessageEntity } from './entities/types.ts'

export function textOf(args: Arguments): Text {
  const parseMode = args.text('parse_mode')
  const entities = args.text('entities')
  try {
    const formatted = formatText(args.text('text') ?? '', {
      limit: 4096,
      kind: 'text',
      ...(parseMode !== undefined && { parseMode }),
      ...(entities !== undefined && { entities }),
    })
    return { text: formatted.text, entities: formatted.entities.map(neutral) }
  } catch (cause) {
    if (cause instanceof FormatError) throw failed('bad_request', cause.message)
    throw cause
  }
}

function neutral({ type, offset, length, url, language, ...rest }: MessageEntity): TextEntity {
  return {
    type,
    offset,
    length,
    ...(url !== undefined && { url }),
    ...(language !== undefined && { language }),
    ...(rest.custom_emoji_id !== undefined && { customEmojiId: rest.custom_emoji_id }),
    ...(rest.user !== undefined && { person: `${rest.user.id}` }),
  }
}
