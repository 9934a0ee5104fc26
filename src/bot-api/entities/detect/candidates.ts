/** Finds what looks like a URL or an e-mail address around each dot of a text. */
import {
  charBefore,
  isHostChar,
  isPathChar,
  isUserChar,
  isWordChar,
  runEnd,
  runStart,
  trimPath,
} from './chars.ts'

export type Candidate = { start: number; end: number }

/** Candidates are disjoint; whether one is a URL its host decides. */
export function findCandidates(text: string): Candidate[] {
  const candidates: Candidate[] = []
  let floor = 0
  for (let dot = text.indexOf('.'); dot !== -1; dot = text.indexOf('.', floor)) {
    const end = findEnd(text, dot)
    const start = findStart(text, dot, floor)
    if (start !== undefined && end > dot + 1) candidates.push({ start, end })
    // A false start is given up as far as its last dot: what follows may be a host again.
    const next = start === undefined ? text.lastIndexOf('.', end - 1) + 1 : skipDots(text, end)
    floor = Math.max(next, dot + 1)
  }
  return candidates
}

const skipDots = (text: string, from: number): number => runEnd(text, from, (char) => char === '.')

const isAddressChar = (char: string): boolean => char === '@' || isHostChar(char)

function findEnd(text: string, dot: number): number {
  let end = runEnd(text, dot, isAddressChar)
  const port = /^:0*([1-9]\d{0,4})(?!\d)/.exec(text.slice(end, end + maxPortText))
  if (port && Number(port[1]) <= 65_535) end += port[0].length
  if ('/?#'.includes(text[end] ?? ' ')) {
    const pathEnd = trimPath(text, end + 1, runEnd(text, end + 1, isPathChar))
    if (text[end] === '/' || pathEnd > end + 1) end = pathEnd
  }
  while (end > dot + 1 && text[end - 1] === '.') end--
  return end
}

const maxPortText = 32

/** Undefined if what stands before shows that this is no URL of a kind people open. */
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
