/** Finds hashtags (`#topic`) and cashtags (`$USD`), both also with the name of a chat behind them. */
import type { MessageEntity } from '../types.ts'
import { found } from './found.ts'

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
