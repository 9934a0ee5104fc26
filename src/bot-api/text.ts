/** The formatted texts of a call, as neutral content. */

import type { Text, TextEntity } from '../../machines/model/content.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Arguments } from './arguments.ts'
import { FormatError } from './entities/error.ts'
import { type FormatOptions, formatText } from './entities/format.ts'
import type { MessageEntity } from './entities/types.ts'

interface Form extends Pick<FormatOptions, 'kind' | 'limit'> {
  readonly text: string
  readonly mode: string
  readonly entities: string
}

const message: Form = {
  text: 'text',
  mode: 'parse_mode',
  entities: 'entities',
  kind: 'text',
  limit: 4096,
}

const caption: Form = {
  text: 'caption',
  mode: 'parse_mode',
  entities: 'caption_entities',
  kind: 'caption',
  limit: 1024,
}

const storyCaption: Form = { ...caption, limit: 2048 }

const partOfPoll = (name: string): Form => ({
  text: name,
  mode: `${name}_parse_mode`,
  entities: `${name}_entities`,
  kind: 'caption',
  limit: 1024,
})

export const textOf = (args: Arguments): Text => formatted(args, message)

/** Empty where there is none. */
export const captionOf = (args: Arguments): Text => formatted(args, caption)

export const storyCaptionOf = (args: Arguments): Text => formatted(args, storyCaption)

/** `question`, `explanation`, or the `text` of an option. */
export const pollTextOf = (args: Arguments, name: string): Text => formatted(args, partOfPoll(name))

function formatted(args: Arguments, { text, mode, entities, kind, limit }: Form): Text {
  const [parseMode, marked] = [args.text(mode), args.text(entities)]
  try {
    const done = formatText(args.text(text) ?? '', {
      limit,
      kind,
      ...(parseMode !== undefined && { parseMode }),
      ...(marked !== undefined && { entities: marked }),
    })
    return { text: done.text, entities: done.entities.map(neutral) }
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
    ...(rest.unix_time !== undefined && { unixTime: rest.unix_time }),
    ...(rest.date_time_format && { timeFormat: rest.date_time_format }),
  }
}
