/** Detects the entities that a text carries by itself: URLs, e-mail addresses, mentions, commands, tags and numbers. */

import type { DetectedKind, MessageEntity } from './entity.ts'
import { dropOverlapping, sortEntities } from './normalize.ts'
import { topLevelDomains } from './tlds.ts'

/** An entity at the place where a pattern matched. */
const found = (type: DetectedKind, text: string, offset: number): MessageEntity => ({
  type,
  offset,
  length: text.length,
})

// Excludes the general punctuation block, except joiners and dashes, and every kind of space.
const hostCharacter =
  /^[.\w~\-[[\u{c0}-\u{10ffff}]--[\p{Z}\u2000-\u200b\u200e\u200f\u2016-\u206f]]]$/v
const path = /^[[\u{21}-\u{10ffff}]--[\p{Z}\p{Cc}<>"«»\u2000-\u200b\u200e\u200f\u2016-\u206f]]$/v

const isHostChar = holdsFor((char) => hostCharacter.test(char))
const isPathChar = holdsFor((char) => path.test(char))
const isUserChar = holdsFor((char) => path.test(char) && !`/[]{}()'\`@`.includes(char))
const isAddressChar = holdsFor((char) => char === '@' || hostCharacter.test(char))
const isWordChar = (char: string): boolean => /^[\p{L}\p{N}_]$/u.test(char)

/** The same test, which looks characters of ASCII up: a pattern takes ten times as long for each. */
function holdsFor(test: (char: string) => boolean): (char: string) => boolean {
  const ascii = Array.from({ length: 128 }, (_, code) => test(String.fromCharCode(code)))
  return (char) => ascii[char.charCodeAt(0)] ?? test(char)
}

/** The index after the run of such characters that starts there. */
function runEnd(text: string, start: number, holds: (char: string) => boolean): number {
  let i = start
  while (i < text.length) {
    const char = String.fromCodePoint(text.codePointAt(i)!)
    if (!holds(char)) break
    i += char.length
  }
  return i
}

/** The index where the run of such characters that ends there starts. */
function runStart(
  text: string,
  end: number,
  floor: number,
  holds: (char: string) => boolean,
): number {
  let i = end
  while (i > floor) {
    const char = charBefore(text, i)
    if (!holds(char)) break
    i -= char.length
  }
  return Math.max(i, floor)
}

function charBefore(text: string, index: number): string {
  const isPair = (text.charCodeAt(index - 1) & 0xfc00) === 0xdc00
  return text.slice(Math.max(index - (isPair ? 2 : 1), 0), index)
}

const endPunctuation = `.:;,('?!\``

/** Punctuation at the end of a path belongs to the sentence. */
function trimPath(text: string, start: number, end: number): number {
  let i = end
  while (i > start && endPunctuation.includes(text[i - 1]!)) i--
  return i
}

const mailbox = /^(?:[\w-]{0,26}[.+]){0,10}[\w-]{1,35}$/
const mailHost = /^(?:(?:[a-z\d][\w-]{0,28})?[a-z\d]\.){1,6}[a-z]{2,8}$/i

/** An e-mail address in running text; stricter than the form that mail servers accept. */
function isEmail(text: string): boolean {
  const at = text.indexOf('@')
  return at > 0 && mailbox.test(text.slice(0, at)) && mailHost.test(text.slice(at + 1))
}

const MAX_LABEL_BYTES = 63

/** Whether the name in a URL can be a host: an IPv4 address or a domain under a known top level. */
function isHost(name: string, hasProtocol: boolean): boolean {
  const labels = name.split('.')
  if (labels.length < 2 || !labels.every(isLabel)) return false
  if (labels.every((label) => /^\d+$/.test(label))) return labels.length === 4 && isIpv4(labels)
  const [parent, top] = labels.slice(-2)
  return !parent!.includes('_') && isTopLevel(top!, hasProtocol)
}

const isLabel = (label: string): boolean => label !== '' && !label.endsWith('-') && fits(label)

/** No character takes more than three bytes for each of its units. */
const fits = (label: string): boolean =>
  label.length <= MAX_LABEL_BYTES / 3 || Buffer.byteLength(label) <= MAX_LABEL_BYTES

const isIpv4 = (labels: readonly string[]): boolean =>
  labels.every((label) => /^(?:0|[1-9]\d{0,2})$/.test(label) && Number(label) <= 255)

function isTopLevel(label: string, hasProtocol: boolean): boolean {
  if (/^xn--/.test(label)) return /^xn--[A-Za-z\d]{2,}$/.test(label)
  if (Array.from(label).length < 2 || /[_-]/.test(label)) return false
  return hasProtocol || isCommon(label)
}

/** In `end.So` a sentence begins rather than a top level: one capital, and that the first letter. */
function isCommon(label: string): boolean {
  const lower = label.toLowerCase()
  const isSentence = label !== lower && label.slice(1) === lower.slice(1)
  return !isSentence && (topLevelDomains.has(lower) || hiddenTopLevels.has(lower))
}

/** Resolved by networks of their own, outside the DNS. */
const hiddenTopLevels = new Set(['onion', 'ton'])

type Candidate = { start: number; end: number }

/** Candidates do not overlap; the host decides whether one is a URL. */
function findCandidates(text: string): Candidate[] {
  const candidates: Candidate[] = []
  const endOfPath = pathEnds(text)
  let floor = 0
  for (let dot = text.indexOf('.'); dot !== -1; dot = text.indexOf('.', floor)) {
    const end = findEnd(text, dot, endOfPath)
    const start = findStart(text, dot, floor)
    if (start !== undefined && end > dot + 1) candidates.push({ start, end })
    // A rejected candidate is skipped only up to its last dot, because a host may follow.
    const next = start === undefined ? text.lastIndexOf('.', end - 1) + 1 : skipDots(text, end)
    floor = Math.max(next, dot + 1)
  }
  return candidates
}

const skipDots = (text: string, from: number): number => runEnd(text, from, (char) => char === '.')

/** The end of the path that begins at a place; the places come in order. Each path is read once, however many dots it has. */
function pathEnds(text: string): (start: number) => number {
  let first = 0
  let last = -1
  let trimmed = 0
  return (start) => {
    if (start < first || start > last) {
      first = start
      last = runEnd(text, start, isPathChar)
      trimmed = trimPath(text, start, last)
    }
    return Math.max(start, trimmed)
  }
}

function findEnd(text: string, dot: number, endOfPath: (start: number) => number): number {
  let end = runEnd(text, dot, isAddressChar)
  const port = /^:0*([1-9]\d{0,4})(?!\d)/.exec(text.slice(end, end + MAX_PORT_TEXT))
  if (port && Number(port[1]) <= 65_535) end += port[0].length
  if ('/?#'.includes(text[end] ?? ' ')) {
    const pathEnd = endOfPath(end + 1)
    if (text[end] === '/' || pathEnd > end + 1) end = pathEnd
  }
  while (end > dot + 1 && text[end - 1] === '.') end--
  return end
}

const MAX_PORT_TEXT = 32

/** Undefined if the text before shows that this is no URL that people open. */
function findStart(text: string, dot: number, floor: number): number | undefined {
  const addressEnd = runEnd(text, dot, isAddressChar)
  const isUserDot = text.slice(dot, addressEnd).includes('@')
  let start = runStart(text, dot, floor, isHostChar)
  if (isUserDot) start = runStart(text, start, floor, isUserChar)
  if (start > floor && text[start - 1] === '@') {
    const user = runStart(text, start - 1, floor, isUserChar)
    if (isUserDot || user === start - 1) return undefined
    start = user
  }
  return start === floor ? start : withProtocol(text, start, floor)
}

const protocols = /(?:(?<!^s)http|https|(?<!^[ts])ftp|tonsite)$/i

function withProtocol(text: string, start: number, floor: number): number | undefined {
  if (!text.slice(floor, start).endsWith('://')) {
    const before = charBefore(text, start)
    return isWordChar(before) || '/#@'.includes(before) ? undefined : start
  }
  const nameEnd = start - '://'.length
  const name = text.slice(runStart(text, nameEnd, floor, isProtocolChar), nameEnd)
  const protocol = protocols.exec(name)
  return protocol ? nameEnd - protocol[0].length : undefined
}

/** Letters of any script, so that a foreign word before the colon is not cut to a protocol. */
const isProtocolChar = (char: string): boolean =>
  char < '\x80' ? /[\w+-]/.test(char) && char !== '_' : /\P{Z}/u.test(char)

const mailto = 'mailto:'

const findUrls = (text: string): MessageEntity[] => [
  ...findOwnUrls(text),
  ...findCandidates(text).flatMap(({ start, end }) => judge(text.slice(start, end), start) ?? []),
]

function judge(candidate: string, start: number): MessageEntity | undefined {
  if (isEmail(candidate)) return found('email', candidate, start)
  const address = candidate.slice(mailto.length)
  if (candidate.startsWith(mailto) && isEmail(address)) {
    return found('email', address, start + mailto.length)
  }
  const [, protocol = '', authority = '', path = ''] =
    /^((?:https?|ftp|tonsite):\/\/)?([^/?#]*)(.*)$/is.exec(candidate) ?? []
  const host = authority.slice(authority.indexOf('@') + 1).replace(/:[^:]*$/, '')
  if (!isHost(host, protocol !== '')) return undefined
  return found('url', protocol + authority + closePath(path), start)
}

const pairs = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
])

/** A closing bracket without an opening one in the path belongs to the sentence around the URL. */
function closePath(path: string): string {
  const open: Record<string, number> = { '(': 0, '[': 0, '{': 0 }
  let end = 0
  for (; end < path.length; end++) {
    const char = path[end]!
    const opener = pairs.get(char)
    if (opener && open[opener]!-- === 0) break
    if (Object.hasOwn(open, char)) open[char]!++
  }
  return path.slice(0, trimPath(path, 0, end))
}

/** Links of the messenger's own schemes, whose hosts have no dots. */
function findOwnUrls(text: string): MessageEntity[] {
  if (!text.includes('://')) return []
  const own = /(?:tg|ton|tonsite):\/\/[\w-]{1,253}/gi
  const urls: MessageEntity[] = []
  for (let match = own.exec(text); match; match = own.exec(text)) {
    own.lastIndex = ownUrlEnd(text, own.lastIndex)
    urls.push(found('url', text.slice(match.index, own.lastIndex), match.index))
  }
  return urls
}

function ownUrlEnd(text: string, hostEnd: number): number {
  if (!'/?#'.includes(text[hostEnd] ?? ' ')) return hostEnd
  const end = trimPath(text, hostEnd + 1, runEnd(text, hostEnd + 1, isPathChar))
  return text[hostEnd] === '/' || end > hostEnd + 1 ? end : hostEnd
}

const phone = /(?<![\p{L}\p{N}_+])\+[1-9](?:[ .-]?\(?\d\)?){6,14}(?![\p{L}\p{N}_])/gu

/** Finds phone numbers, in their international form only: other digits may mean anything. */
const findPhones = (text: string): MessageEntity[] =>
  Array.from(text.matchAll(phone), (match) => found('phone_number', match[0], match.index))

// Letters and digits, and what some scripts need within a word: joiner, middle dot, Sinhala signs.
const hashtag =
  /(?<![\p{L}\p{Nd}_\u00b7\u200c\u0d80-\u0dff])#[\p{L}\p{Nd}_\u00b7\u200c\u0d80-\u0dff]+/gu
const cashtag =
  /(?<![\p{L}\p{Nd}_\u00b7\u200c\u0d80-\u0dff$])\$(?:1INCH|[A-Z]{1,8})(?:@[A-Za-z0-9_]{3,32})?(?![\p{L}\p{Nd}_\u00b7\u200c\u0d80-\u0dff$])/gu
const chatName = /@[A-Za-z0-9_]{3,32}/y

const MAX_LETTERS = 256

const findTags = (text: string): MessageEntity[] => [
  ...Array.from(text.matchAll(hashtag)).flatMap((match) => readHashtag(text, match) ?? []),
  ...Array.from(text.matchAll(cashtag), (match) => found('cashtag', match[0], match.index)),
]

/** A longer run is a hashtag in its first 256 letters; two tags in one word are none. */
function readHashtag(text: string, match: RegExpExecArray): MessageEntity | undefined {
  const [run] = match
  const letters = Array.from(run.slice(1))
  const isCut = letters.length > MAX_LETTERS
  const tag = isCut ? `#${letters.slice(0, MAX_LETTERS).join('')}` : run
  chatName.lastIndex = match.index + run.length
  const [chat = ''] = (isCut ? undefined : chatName.exec(text)) ?? []
  const isChained = text[match.index + run.length + chat.length] === '#'
  if (isChained || !/\p{L}/u.test(tag)) return undefined
  return found('hashtag', tag + chat, match.index)
}

const mention = /(?<![\p{L}\p{N}_])@[A-Za-z0-9_]{2,32}(?![\p{L}\p{N}_])/gu
const command =
  /(?<![\p{L}\p{N}_/<>])\/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32}|(?!@))(?![\p{L}\p{N}_/<>])/gu

const MIN_NAME_LENGTH = 4
/** The only names that short: the bots for inline search and collectible names. */
const shortNames = new Set(['gif', 'nft', 'pic', 'ufc', 'vid'])

const findMentions = (text: string): MessageEntity[] =>
  Array.from(text.matchAll(mention))
    .filter(([name]) => isName(name.slice(1)))
    .map((match) => found('mention', match[0], match.index))

const findCommands = (text: string): MessageEntity[] =>
  Array.from(text.matchAll(command), (match) => found('bot_command', match[0], match.index))

const isName = (name: string): boolean =>
  name.length >= MIN_NAME_LENGTH || shortNames.has(name.toLowerCase())

/** A text without any of its marks need not be searched for an entity: most texts have none. */
const finders = [
  { marks: ['@'], find: findMentions },
  { marks: ['/'], find: findCommands },
  { marks: ['#', '$'], find: findTags },
  { marks: ['.', ':'], find: findUrls },
  { marks: ['+'], find: findPhones },
]

export function detectEntities(text: string): MessageEntity[] {
  const found = finders.flatMap(({ marks, find }) =>
    marks.some((mark) => text.includes(mark)) ? find(text) : [],
  )
  return found.length === 0 ? found : dropOverlapping(sortEntities(found))
}
