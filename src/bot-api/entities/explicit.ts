/** Reads the `entities` parameter: a JSON array of MessageEntity, each checked as the reference does. */

import {
  type EntityKind,
  FormatError,
  MarkupError,
  type MessageEntity,
  parseInteger,
} from './entity.ts'
import { checkLink, dateTimeFormat, mentionOf, readMention } from './link.ts'
import { cleanText } from './normalize.ts'

/** The text itself unless it is an array of more than `most` items; a text that is no JSON stays none. */
function firstItems(json: string, most: number): string {
  if (json.trimStart()[0] !== '[') return json
  let depth = 0
  let items = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === 0x22) at = closingQuote(json, at)
    else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x2c && depth === 1 && ++items === most) return `${json.slice(0, at)}]`
  }
  return json
}

function closingQuote(text: string, opening: number): number {
  let at = opening + 1
  while (at < text.length && text.charCodeAt(at) !== 0x22)
    at += text.charCodeAt(at) === 0x5c ? 2 : 1
  return at
}

/** The fields of one JSON object of the `entities` parameter; a field of the wrong type is refused in the reference's words. */
type Fields = {
  int(name: string): number
  long(name: string): bigint
  string(name: string): string
  optionalString(name: string): string
  object(name: string): Fields
}

const refuseEntity = (detail: string): MarkupError =>
  new MarkupError(`can't parse MessageEntity: ${detail}`)

function fields(item: unknown): Fields {
  if (!isObject(item)) throw refuseEntity('expected an Object')
  const required = (name: string): unknown => {
    const value = Object.hasOwn(item, name) ? item[name] : undefined
    if (value === undefined || value === null) throw refuseEntity(`Can't find field "${name}"`)
    return value
  }
  const integer = (name: string, bits: 32 | 64): bigint => {
    const value = required(name)
    if (typeof value !== 'string') throw refuseEntity(`Field "${name}" must be a Number`)
    const parsed = parseInteger(value, bits)
    if (parsed === undefined) throw refuseEntity(`Field "${name}" must be a valid Number`)
    return parsed
  }
  const string = (name: string): string => {
    const value = required(name)
    if (typeof value !== 'string') throw refuseEntity(`Field "${name}" must be of type String`)
    return value
  }
  return {
    int: (name) => Number(integer(name, 32)),
    long: (name) => integer(name, 64),
    string,
    optionalString: (name) => (item[name] === undefined || item[name] === null ? '' : string(name)),
    object(name) {
      const value = required(name)
      if (!isObject(value)) throw refuseEntity(`Field "${name}" must be of type Object`)
      return fields(value)
    },
  }
}

const isObject = (item: unknown): item is Record<string, unknown> =>
  typeof item === 'object' && item !== null && !Array.isArray(item)

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

/** The kind of an entity the sender marked, and what belongs to that kind. */
function readExplicitKind(given: Fields): Meaning | undefined {
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
  if (id <= 0n) throw new FormatError('user not found')
  return id <= Number.MAX_SAFE_INTEGER ? mentionOf(Number(id)) : undefined
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

/** Entities beyond five times the limit of a message are dropped unread. The reference reads them, and drops them too. */
const MOST = 500

/** Whatever is no JSON, or no array, marks nothing: the reference sends the text as it is. */
export function parseExplicit(json: string): MessageEntity[] {
  const value = parseJson(firstItems(json, MOST))
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) => readEntity(item) ?? [])
}

/**
 * Numbers stay in the sender's own digits: the API takes a number and a string alike, and
 * identifiers of custom emoji exceed what a JavaScript number can hold.
 */
function parseJson(json: string): unknown {
  try {
    return JSON.parse(json, (_key, value: unknown, context?: { source?: string }) => {
      if (typeof value === 'string' && !value.isWellFormed()) throw illFormed
      return typeof value === 'number' ? (context?.source ?? String(value)) : value
    })
  } catch (cause) {
    if (cause === illFormed) throw cause
    return undefined
  }
}

const illFormed = new FormatError('strings must be encoded in UTF-8')

/** Undefined for the kinds that only the service itself finds. */
function readEntity(item: unknown): MessageEntity | undefined {
  const given = fields(item)
  const offset = given.int('offset')
  const length = given.int('length')
  const kind = readExplicitKind(given)
  if (!kind) return undefined
  const entity: MessageEntity = { ...kind, offset, length }
  if (entity.language !== undefined) entity.language = cleanText(entity.language)
  return entity
}
