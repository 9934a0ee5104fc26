/** Reads a start tag of HTML markup: its name and what its attributes say. */
import { unparsable } from './error.ts'
import { readReference } from './html-reference.ts'
import { asciiLower, byteOffset, isSpace } from './scan.ts'

export type StartTag = { name: string; attributes: Map<string, string>; end: number }

const known = new Set(
  'a b strong i em s strike del u ins tg-spoiler tg-emoji tg-time span pre code blockquote'.split(
    ' ',
  ),
)

/** `end` is the index of the tag's `>`. Of an attribute given twice the last counts. */
export function readStartTag(text: string, start: number): StartTag {
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
export function skipName(text: string, from: number): number {
  let i = from
  while (!isSpace(text[i]) && text[i] !== '>') i++
  return i
}

export function skipSpaces(text: string, from: number): number {
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
