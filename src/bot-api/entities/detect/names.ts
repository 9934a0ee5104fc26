/** Finds mentions (`@name`) and bot commands (`/start`, `/start@name`). */
import type { MessageEntity } from '../types.ts'
import { found } from './found.ts'

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
