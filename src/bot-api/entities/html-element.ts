/** What an HTML element means: the entity it makes of the text between its tags. */
import { dateTimeFormat } from './date-time.ts'
import { unparsable } from './error.ts'
import type { StartTag } from './html-tag.ts'
import { parseInteger } from './scan.ts'
import { readTextLink } from './text-link.ts'
import type { EntityKind, MessageEntity } from './types.ts'

type Meaning = Omit<MessageEntity, 'offset' | 'length'>

const plain: Readonly<Record<string, EntityKind>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  span: 'spoiler',
  'tg-spoiler': 'spoiler',
  pre: 'pre',
}

export function meaningOf({ name, attributes }: StartTag, content: string): Meaning | undefined {
  switch (name) {
    case 'a':
      return readTextLink(attributes.get('href') || content)
    case 'blockquote':
      return { type: attributes.has('expandable') ? 'expandable_blockquote' : 'blockquote' }
    case 'code':
      return { type: 'code', ...languageOf(attributes.get('class')) }
    case 'tg-emoji':
      return readEmoji(attributes.get('emoji-id') ?? '')
    case 'tg-time':
      return readTime(attributes.get('unix') ?? '', attributes.get('format') ?? '')
    default:
      return { type: plain[name]! }
  }
}

function languageOf(className = ''): { language?: string } {
  const [, language] = /^language-(.+)$/s.exec(className) ?? []
  return language === undefined ? {} : { language }
}

function readEmoji(id: string): Meaning {
  if (!parseInteger(id, 64)) throw unparsable('Invalid custom emoji identifier specified')
  return { type: 'custom_emoji', custom_emoji_id: id }
}

function readTime(unix: string, given: string): Meaning | undefined {
  const format = dateTimeFormat(given)
  if (format === undefined) throw unparsable('Invalid date format used')
  const time = Number(parseInteger(unix, 32) ?? 0)
  return time > 0 ? { type: 'date_time', unix_time: time, date_time_format: format } : undefined
}
