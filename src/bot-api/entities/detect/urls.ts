/** Finds URLs and e-mail addresses. */
import type { MessageEntity } from '../types.ts'
import { findCandidates } from './candidates.ts'
import { isPathChar, runEnd, trimPath } from './chars.ts'
import { isEmail } from './emails.ts'
import { found } from './found.ts'
import { isHost } from './hosts.ts'

const mailto = 'mailto:'

export const findUrls = (text: string): MessageEntity[] => [
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

/** A bracket that closes what the path did not open belongs to the sentence around the URL. */
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
