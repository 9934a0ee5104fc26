/** Detects mentions, bot commands, hashtags, cashtags and phone numbers in text. */
import type { MessageEntity } from '../types.ts'
import { found } from './found.ts'

/** Finds phone numbers, in their international form only: other digits may mean anything. */
const phone = /(?<![\p{L}\p{N}_+])\+[1-9](?:[ .-]?\(?\d\)?){6,14}(?![\p{L}\p{N}_])/gu

export const findPhones = (text: string): MessageEntity[] =>
  Array.from(text.matchAll(phone), (match) => found('phone_number', match[0], match.index))

// Letters and digits, and what some scripts need within a word: joiner, middle dot, Sinhala signs.
const hashtag =
  /(?<![\p{L}\p{Nd}_\u00b7\u200c\u0d80-\u0dff])#[\p{L}\p{Nd}_\u00b7\u200c\u0d80-\u0dff]+/gu
const cashtag =
  /(?<![\p{L}\p{Nd}_\u00b7\u200c\u0d80-\u0dff$])\$(?:1INCH|[A-Z]{1,8})(?:@[A-Za-z0-9_]{3,32})?(?![\p{L}\p{Nd}_\u00b7\u200c\u0d80-\u0dff$])/gu
const chatName = /@[A-Za-z0-9_]{3,32}/y

const maxLetters = 256

export const findTags = (text: string): MessageEntity[] => [
  ...Array.from(text.matchAll(hashtag)).flatMap((match) => readHashtag(text, match) ?? []),
  ...Array.from(text.matchAll(cashtag), (match) => found('cashtag', match[0], match.index)),
]

/** A longer run is a hashtag in its first 256 letters; two tags in one word are none. */
function readHashtag(text: string, match: RegExpExecArray): MessageEntity | undefined {
  const [run] = match
  const letters = Array.from(run.slice(1))
  const isCut = letters.length > maxLetters
  const tag = isCut ? `#${letters.slice(0, maxLetters).join('')}` : run
  chatName.lastIndex = match.index + run.length
  const [chat = ''] = (isCut ? undefined : chatName.exec(text)) ?? []
  const isChained = text[match.index + run.length + chat.length] === '#'
  if (isChained || !/\p{L}/u.test(tag)) return undefined
  return found('hashtag', tag + chat, match.index)
}

const mention = /(?<![\p{L}\p{N}_])@[A-Za-z0-9_]{2,32}(?![\p{L}\p{N}_])/gu
const command =
  /(?<![\p{L}\p{N}_/<>])\/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32}|(?!@))(?![\p{L}\p{N}_/<>])/gu

const minNameLength = 4
/** The only names that short: the bots for inline search and collectible names. */
const shortNames = new Set(['gif', 'nft', 'pic', 'ufc', 'vid'])

export const findMentions = (text: string): MessageEntity[] =>
  Array.from(text.matchAll(mention))
    .filter(([name]) => isName(name.slice(1)))
    .map((match) => found('mention', match[0], match.index))

export const findCommands = (text: string): MessageEntity[] =>
  Array.from(text.matchAll(command), (match) => found('bot_command', match[0], match.index))

const isName = (name: string): boolean =>
  name.length >= minNameLength || shortNames.has(name.toLowerCase())
