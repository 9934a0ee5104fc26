/** The kind of an entity the sender marked, and what belongs to that kind. */
import { cleanText } from './clean.ts'
import { dateTimeFormat } from './date-time.ts'
import { FormatError } from './error.ts'
import { type Fields, refuseEntity } from './fields.ts'
import { checkLink } from './link.ts'
import { mentionOf, readMention } from './own-link.ts'
import type { EntityKind, MessageEntity } from './types.ts'

type Meaning = Omit<MessageEntity, 'offset' | 'length'>

const bare: readonly EntityKind[] = [
  'bold',
  'italic',
  'underline',
  'strikethrough',
  'spoiler',
  'code',
  'blockquote',
  'expandable_blockquote',
]
const detectedOnly = new Set(
  'mention hashtag cashtag bot_command url email phone_number bank_card_number'.split(' '),
)

export function readExplicitKind(given: Fields): Meaning | undefined {
  const type = given.string('type')
  switch (type) {
    case 'pre':
      return readPre(given)
    case 'text_link':
      return readLink(cleanText(given.string('url')))
    case 'text_mention':
      return readPerson(given.object('user').long('id'))
    case 'custom_emoji':
      return readEmoji(given.long('custom_emoji_id'))
    case 'date_time':
      return readTime(given)
  }
  const kind = bare.find((known) => known === type)
  if (kind) return { type: kind }
  if (detectedOnly.has(type)) return undefined
  throw refuseEntity(type === '' ? 'Type is not specified' : 'Unsupported type specified')
}

function readPre(given: Fields): Meaning {
  const language = given.optionalString('language')
  return language === '' ? { type: 'pre' } : { type: 'pre', language }
}

function readLink(url: string): Meaning {
  const mention = readMention(url)
  if (mention) return mention
  const checked = url.isWellFormed() ? checkLink(url) : { fault: 'Wrong HTTP URL' }
  if ('url' in checked) return { type: 'text_link', url: checked.url }
  throw new FormatError(`entity URL '${url}' is invalid: ${checked.fault}`)
}

function readPerson(id: bigint): Meaning | undefined {
  return id > 0n && id <= Number.MAX_SAFE_INTEGER ? mentionOf(Number(id)) : undefined
}

function readEmoji(id: bigint): Meaning {
  if (id === 0n) throw new FormatError('invalid custom emoji identifier specified')
  return { type: 'custom_emoji', custom_emoji_id: id.toString() }
}

function readTime(given: Fields): Meaning {
  const time = given.int('unix_time')
  const format = dateTimeFormat(given.optionalString('date_time_format'))
  if (format === undefined) throw refuseEntity('Invalid date-time format specified')
  if (time <= 0) throw new FormatError('invalid date specified')
  return { type: 'date_time', unix_time: time, date_time_format: format }
}
