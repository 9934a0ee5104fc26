/** The HTML parse mode: tags become entities, character references become characters. */

import {
  asciiLower,
  byteOffset,
  type EntityKind,
  type FormattedText,
  isSpace,
  type MessageEntity,
  parseInteger,
  unparsable,
} from './entity.ts'
import { dateTimeFormat, readTextLink } from './link.ts'
import { sortEntities } from './normalize.ts'

const named = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
])
const reference = /&(?:#x([\dA-Fa-f]*)|#(\d*)|([A-Za-z]*));?/y
const MAX_LENGTH = 9

/** Reads the character reference at an `&`; undefined if the `&` is a plain character. */
function readReference(text: string, start: number): { char: string; end: number } | undefined {
  reference.lastIndex = start
  const [matched = '', hex, decimal, name] = reference.exec(text) ?? []
  const char = name === undefined ? numeric(hex, decimal, matched) : named.get(name)
  return char === undefined ? undefined : { char, end: start + matched.length }
}

function numeric(
  hex: string | undefined,
  decimal: string | undefined,
  matched: string,
): string | undefined {
  if (matched.replace(';', '').length > MAX_LENGTH) return undefined
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code > 0 && code < 0x10ffff ? String.fromCodePoint(code) : undefined
}

type StartTag = { name: string; attributes: Map<string, string>; end: number }

const known = new Set(
  'a b strong i em s strike del u ins tg-spoiler tg-emoji tg-time span pre code blockquote'.split(
    ' ',
  ),
)

/** `end` is the index of the tag's `>`. The last value of a repeated attribute counts. */
function readStartTag(text: string, start: number): StartTag {
  const at = () => `at byte offset ${byteOffset(text, start)}`
  let i = skipName(text, start + 1)
  if (i >= text.length) throw unparsable(`Unclosed start tag ${at()}`)
  const name = asciiLower(text.slice(start + 1, i))
  if (!known.has(name)) throw unparsable(`Unsupported start tag "${name}" ${at()}`)
  const attributes = new Map<string, string>()
  for (i = skipSpaces(text, i); text[i] !== '>'; i = skipSpaces(text, i)) {
    const attribute = readAttribute(text, i)
    if (attribute.name === '') throw unparsable(`Empty attribute name in the tag "${name}" ${at()}`)
    if (attribute.isCut) throw unparsable(`Unclosed start tag "${name}" ${at()}`)
    if (attribute.end >= text.length) throw unparsable(`Unclosed start tag ${at()}`)
    attributes.set(attribute.name, attribute.value)
    i = attribute.end
  }
  return { name, attributes, end: i }
}

/** The index after the characters of a tag's name. */
function skipName(text: string, from: number): number {
  let i = from
  while (!isSpace(text[i]) && text[i] !== '>') i++
  return i
}

function skipSpaces(text: string, from: number): number {
  let i = from
  while (i < text.length && isSpace(text[i])) i++
  return i
}

/** `isCut`: the text ends before the value begins. */
type Attribute = { name: string; value: string; end: number; isCut: boolean }

function readAttribute(text: string, start: number): Attribute {
  let i = start
  while (!isSpace(text[i]) && !`=>/"'`.includes(text[i]!)) i++
  const name = text.slice(start, i)
  const next = skipSpaces(text, i)
  if (text[next] !== '=') return { name, value: '', end: next, isCut: next >= text.length }
  const valueStart = skipSpaces(text, next + 1)
  if (valueStart >= text.length) return { name, value: '', end: valueStart, isCut: true }
  const quote = text[valueStart]
  const read = quote === '"' || quote === "'" ? readQuoted : readToken
  return { name, ...read(text, valueStart), isCut: false }
}

function readToken(text: string, start: number): { value: string; end: number } {
  let end = start
  while (/[\dA-Za-z.-]/.test(text[end] ?? '')) end++
  if (!isSpace(text[end]) && text[end] !== '>') {
    throw unparsable(`Unexpected end of name token at byte offset ${byteOffset(text, start)}`)
  }
  return { value: asciiLower(text.slice(start, end)), end }
}

function readQuoted(text: string, start: number): { value: string; end: number } {
  const quote = text[start]
  let value = ''
  let i = start + 1
  while (i < text.length && text[i] !== quote) {
    const reference = text[i] === '&' ? readReference(text, i) : undefined
    value += reference?.char ?? text[i]
    i = reference?.end ?? i + 1
  }
  return { value, end: Math.min(i + 1, text.length) }
}

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

/** The meaning of an HTML element: the entity that it makes of the text between its tags. */
function meaningOf({ name, attributes }: StartTag, content: string): Meaning | undefined {
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

type OpenElement = StartTag & { offset: number }

export function parseHtml(source: string): FormattedText {
  let text = ''
  const entities: MessageEntity[] = []
  const open: OpenElement[] = []
  let i = 0
  while (i < source.length) {
    const reference = source[i] === '&' ? readReference(source, i) : undefined
    if (source[i] !== '<') {
      text += reference?.char ?? source[i]
      i = reference?.end ?? i + 1
    } else if (source[i + 1] !== '/') {
      const tag = readStartTag(source, i)
      requireSpoiler(tag, source, i)
      open.push({ ...tag, offset: text.length })
      i = tag.end + 1
    } else {
      i = readEndTag(source, i, open.at(-1))
      addEntity(entities, open.pop()!, text)
    }
  }
  const unclosed = open.at(-1)
  if (unclosed) {
    throw unparsable(`Can't find end tag corresponding to start tag "${unclosed.name}"`)
  }
  if (!text.isWellFormed()) {
    throw unparsable(
      'Text contains invalid Unicode characters after decoding HTML entities, ' +
        'check for unmatched surrogate code units',
    )
  }
  return { text, entities: sortEntities(entities.map(dropCodeLanguage)) }
}

function requireSpoiler({ name, attributes }: StartTag, source: string, start: number): void {
  if (name === 'span' && attributes.get('class') !== 'tg-spoiler') {
    const at = byteOffset(source, start)
    throw unparsable(`Tag "span" must have class "tg-spoiler" at byte offset ${at}`)
  }
}

function readEndTag(source: string, start: number, element: OpenElement | undefined): number {
  const at = () => `at byte offset ${byteOffset(source, start)}`
  if (!element) throw unparsable(`Unexpected end tag ${at()}`)
  const nameEnd = skipName(source, start + 2)
  const name = asciiLower(source.slice(start + 2, nameEnd))
  const end = skipSpaces(source, nameEnd)
  if (source[end] !== '>') throw unparsable(`Unclosed end tag ${at()}`)
  if (name !== '' && name !== element.name) {
    throw unparsable(`Unmatched end tag ${at()}, expected "</${element.name}>", found "</${name}>"`)
  }
  return end + 1
}

function addEntity(entities: MessageEntity[], element: OpenElement, text: string): void {
  const { offset } = element
  const length = text.length - offset
  if (length === 0) return
  const meaning = meaningOf(element, text.slice(offset))
  if (!meaning) return
  const inner = entities.at(-1)
  const covers = inner?.offset === offset && inner.length === length
  if (covers && joins(inner, meaning)) {
    inner.type = 'pre'
    inner.language ??= meaning.language!
  } else {
    entities.push({ ...meaning, offset, length })
  }
}

/** A `code` with a language and a `pre` around the same text, either way round, are one entity. */
const joins = (inner: MessageEntity, outer: Pick<MessageEntity, 'type' | 'language'>): boolean =>
  inner.type === 'code'
    ? outer.type === 'pre' && inner.language !== undefined
    : inner.type === 'pre' && outer.type === 'code' && outer.language !== undefined

function dropCodeLanguage({ language, ...entity }: MessageEntity): MessageEntity {
  return language === undefined || entity.type === 'code' ? entity : { ...entity, language }
}
