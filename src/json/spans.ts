/** Finds the parts of JSON in its text, so that a part can be passed on as it was written. `text` is valid JSON. */

/** The position of a part: `text.slice(from, to)`. */
export interface Span {
  readonly from: number
  readonly to: number
}

interface MemberSpan extends Span {
  readonly name: string
  /** The position of its name. */
  readonly start: number
}

/** The members of the first object, each with the place of its value. */
export function memberSpans(text: string): MemberSpan[] {
  return partsOf(text, text.indexOf('{')).map(({ from, to }) => {
    const opening = text.indexOf('"', from)
    const closing = closingQuote(text, opening)
    const name = JSON.parse(text.slice(opening, closing + 1)) as string
    return { name, start: opening, ...trimmed(text, text.indexOf(':', closing) + 1, to) }
  })
}

/** How many members the first object has. */
export const memberCount = (text: string): number => partsOf(text, text.indexOf('{')).length

/** The items of the array that begins at or after `start`. */
export const itemSpans = (text: string, start = 0): Span[] =>
  partsOf(text, text.indexOf('[', start)).map(({ from, to }) => trimmed(text, from, to))

/** Integers outside of strings that have more digits than every number can hold exactly. */
export function* longIntegerSpans(text: string): IterableIterator<Span> {
  if (!LONG.test(text)) return
  const next = /"|(?<![\w.+-])-?\d{16,}(?![\d.eE])/g
  for (let found = next.exec(text); found; found = next.exec(text)) {
    const { 0: part, index: from } = found
    if (part === '"') next.lastIndex = closingQuote(text, from) + 1
    else yield { from, to: from + part.length }
  }
}

/** Most texts have no such integer, and are not walked through. */
const LONG = /\d{16}/

/** Counts brackets outside strings; the text may be any. */
export function isDeeperThan(text: string, limit: number): boolean {
  // Too short to contain the closing brackets: the parser will refuse it.
  if (text.length <= 2 * limit) return false
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === 0x5c) at++
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > limit) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

/** Between the commas of the object or array whose bracket stands at `opening`. */
function partsOf(text: string, opening: number): Span[] {
  const parts: Span[] = []
  let depth = 0
  let from = opening + 1
  for (let at = opening; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) at = closingQuote(text, at)
    else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x7d || code === 0x5d) {
      if (--depth > 0) continue
      // An empty one has no parts.
      if (parts.length > 0 || text.slice(from, at).trim() !== '') parts.push({ from, to: at })
      break
    } else if (code === 0x2c && depth === 1) {
      parts.push({ from, to: at })
      from = at + 1
    }
  }
  return parts
}

function closingQuote(text: string, opening: number): number {
  for (let at = text.indexOf('"', opening + 1); ; at = text.indexOf('"', at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) === 0x5c) before--
    if ((at - before) % 2 === 1) return at
  }
}

/** JSON's own white space is left out at both ends. */
function trimmed(text: string, from: number, to: number): Span {
  let first = from
  let end = to
  while (text.charCodeAt(first) <= 0x20) first++
  while (text.charCodeAt(end - 1) <= 0x20) end--
  return { from: first, to: end }
}
