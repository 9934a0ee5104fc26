/** What stands behind the `]` of a MarkdownV2 link or custom emoji. */
import { unparsable } from './error.ts'
import { readEmoji, readTextLink, readTime } from './link.ts'
import { byteOffset } from './scan.ts'
import type { MessageEntity } from './types.ts'

type Meaning = Omit<MessageEntity, 'offset' | 'length'>
type Read = { meaning: Meaning | undefined; end: number }

/** `end` is the index after the link. Without parentheses the text is its own address. */
export function readLinkEnd(source: string, close: number, content: string): Read {
  if (source[close + 1] !== '(') return { meaning: readTextLink(content), end: close + 1 }
  const { url, end } = readAddress(source, close + 2)
  return { meaning: readTextLink(url), end }
}

export function readImageEnd(source: string, close: number): Read {
  if (source[close + 1] !== '(') {
    throw unparsable('The entity must contain a tg://emoji or tg://time URL')
  }
  const { url, end } = readAddress(source, close + 2)
  const meaning = readEmoji(url) ?? readTime(url)
  if (!meaning) throw unparsable('Invalid tg://emoji or tg://time URL specified')
  return { meaning, end }
}

function readAddress(source: string, start: number): { url: string; end: number } {
  let url = ''
  let i = start
  while (i < source.length && source[i] !== ')') {
    if (isEscape(source, i)) i++
    url += source[i]
    i++
  }
  if (i >= source.length) {
    throw unparsable(`Can't find end of a URL at byte offset ${byteOffset(source, start)}`)
  }
  return { url, end: i + 1 }
}

/** A backslash takes the meaning from any ASCII character but DEL. */
export function isEscape(source: string, index: number): boolean {
  const next = source.charCodeAt(index + 1)
  return source[index] === '\\' && next >= 1 && next <= 126
}
