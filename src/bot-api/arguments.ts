/** The parameters of one call as text, parsed as leniently as the reference does. */
import { isUtf8 } from 'node:buffer'
import { failed, notFound } from '../../machines/model/failure.ts'
import type { PublicChat } from '../../machines/model/operation.ts'
import { isDeeperThan } from '../json/spans.ts'

/** The reference's nesting limit. */
const DEPTH = 100

const TRUE = ['true', 'yes', '1']

export class Arguments {
  readonly #values: ReadonlyMap<string, string>

  /** The first value of a name wins: the query string comes before the body. */
  constructor(entries: Iterable<readonly [string, string]>) {
    const values = new Map<string, string>()
    for (const [name, value] of entries) if (!values.has(name)) values.set(name, value)
    this.#values = values
  }

  /** The members of a structured parameter, read like the parameters of a call. */
  static from(object: object): Arguments {
    return new Arguments(
      Object.entries(object)
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    )
  }

  /** The names of the given parameters, without repetition. */
  names(): Iterable<string> {
    return this.#values.keys()
  }

  /** The length of all values together, in characters. */
  get length(): number {
    let length = 0
    for (const value of this.#values.values()) length += value.length
    return length
  }

  /** The first of them, with this many characters of names and values together; more of their text is not held. */
  upTo(characters: number): Arguments {
    let length = 0
    for (const [name, value] of this.#values) length += name.length + value.length
    if (length <= characters) return this
    const entries: [string, string][] = []
    let left = characters
    for (const [name, value] of this.#values) {
      if (left <= 0) break
      entries.push([headOf(name, left), headOf(value, left - name.length)])
      left -= name.length + value.length
    }
    return new Arguments(entries)
  }

  /** Empty text counts as absent. */
  text(name: string): string | undefined {
    return this.#values.get(name) || undefined
  }

  /** `true`, `yes` and `1`; everything else is false, without an error. */
  boolean(name: string): boolean {
    const value = this.#values.get(name)
    return value !== undefined && TRUE.includes(value.trim().toLowerCase())
  }

  /** Reads leading digits; text without them is 0. A value out of range becomes the nearest one in the range. */
  integer(name: string, range: { min: number; max: number }): number {
    const digits = /^-?\d+/.exec(this.#values.get(name) ?? '')?.[0] ?? '0'
    return Math.min(range.max, Math.max(range.min, Number(digits)))
  }

  /** Reads a leading decimal number; text without one is 0. */
  number(name: string): number {
    return Number(
      /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/i.exec(this.#values.get(name) ?? '')?.[0] ?? 0,
    )
  }

  /** The id of a person. */
  userId(name = 'user_id'): number {
    const id = this.integer(name, { min: 0, max: Number.MAX_SAFE_INTEGER })
    if (id === 0) throw failed('bad_request', `invalid ${name} specified`)
    return id
  }

  has(name: string): boolean {
    return this.text(name) !== undefined
  }

  /** Whether the parameter is present, even if it is empty. */
  isGiven(name: string): boolean {
    return this.#values.has(name)
  }

  /** The value of a structured parameter; undefined if it is absent or no JSON. `null` is a value, as in the reference. */
  json(name: string): unknown {
    const text = this.#values.get(name)
    // The error that the parser makes of it would take a sixth of a poll's time.
    if (text === undefined || text === '') return undefined
    if (isDeeperThan(text, DEPTH)) return undefined
    const value = parsed(text)
    // NUL characters written as escapes show only after parsing.
    if (/\\u(?:0000|d[89a-f])/i.test(text) && !isStorable(value)) {
      throw failed('bad_request', 'strings must be encoded in UTF-8')
    }
    return value
  }

  /** The value of a structured parameter; `what` names one that is no JSON: `reply parameters JSON object`. */
  parsed(name: string, what: string): unknown {
    const value = this.json(name)
    if (value === undefined) throw failed('bad_request', `can't parse ${what}`)
    return value
  }

  /** A list that must be there; `what` names the parameter where it is no JSON, `items` what belongs into the list. */
  list(name: string, what: string, items: string): unknown[] {
    const value = this.parsed(name, `${what} JSON object`)
    if (Array.isArray(value)) return value
    throw failed('bad_request', `expected an Array of ${items}`)
  }

  /** An object that must be there; `what` names the parameter in refusals. */
  object(name: string, what: string, expected = `object expected as ${what}`): object {
    const value = this.parsed(name, `${what} JSON object`)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
    throw failed('bad_request', expected)
  }

  /** Its members, read like the parameters of a call. */
  members(name: string, what: string): Arguments {
    return Arguments.from(this.object(name, what))
  }

  /** A negative or absent id becomes 0, which no message has. */
  messageId(name: string): number {
    return this.integer(name, { min: 0, max: 2 ** 31 - 1 })
  }

  chat(name = 'chat_id'): PublicChat {
    const value = this.text(name)
    if (value === undefined) throw failed('bad_request', `${name} is empty`)
    return chatFrom(value)
  }
}

/** A copy, since a part of a text keeps the whole alive. */
const headOf = (text: string, length: number): string =>
  Buffer.from(text.slice(0, Math.max(0, length)), 'utf16le').toString('utf16le')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\u0000')
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member))
}

/** `@name` or the leading integer; undefined for other text. */
export function chatFrom(value: string): PublicChat {
  if (/^@.+/.test(value)) return value as `@${string}`
  const id = Number(/^-?\d+/.exec(value)?.[0] ?? 0)
  if (id === 0 || !Number.isSafeInteger(id)) throw notFound('chat')
  return id
}

/** The `chat_id` of an object, where a number is accepted as well; empty for none. */
export function chatIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return `${value}`
  if (value == null) return ''
  throw failed('bad_request', 'field "chat_id" must be of type String')
}

/** A number inside JSON, which may also be given as text. Any other value is none: a list of one would be taken for it. */
export const numberIn = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN

/** `form` has one character for each byte, as in Node's request lines. An invalid escape stays as it is. */
export function* formEntries(form: string): IterableIterator<[string, string]> {
  for (const pair of form.split('&')) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    if (at < 0) yield [decoded(pair), '']
    else yield [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]
  }
}

function decoded(text: string): string {
  if (/^[\w.~*-]*$/.test(text)) return text
  const bytes = Buffer.from(
    text
      .replaceAll('+', ' ')
      .replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
  return utf8(bytes)
}

/** Rejects bytes that a decoder would silently replace. */
export function utf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw failed('bad_request', 'strings must be encoded in UTF-8')
  return bytes.toString()
}

/** The chat whose rate a sending call counts for, with one spelling for each number and name. */
export function chatOf(chat = ''): string {
  return chat.startsWith('@') ? chat.toLowerCase() : `${Number(/^-?\d+/.exec(chat)?.[0] ?? 0)}`
}
