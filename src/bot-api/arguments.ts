/** The parameters of one call, as the reference reads them: text, and forgiving about its form. */
import { failed } from '../../actors/errors.ts'
import type { PublicChat } from '../../machines/operation.ts'

export class Arguments {
  readonly #values: ReadonlyMap<string, string>

  /** The first value of a name wins: the query string comes before the body. */
  constructor(entries: Iterable<readonly [string, string]>) {
    const values = new Map<string, string>()
    for (const [name, value] of entries) if (!values.has(name)) values.set(name, value)
    this.#values = values
  }

  /** Empty text counts as absent. */
  text(name: string): string | undefined {
    return this.#values.get(name) || undefined
  }

  /** `true`, `yes` and `1`; everything else is false, without an error. */
  boolean(name: string): boolean {
    return ['true', 'yes', '1'].includes((this.#values.get(name) ?? '').trim().toLowerCase())
  }

  /** Leading digits count; none is 0; what is out of range is moved into it. */
  integer(name: string, range: { min: number; max: number }): number {
    const digits = /^-?\d+/.exec(this.#values.get(name) ?? '')?.[0] ?? '0'
    return Math.min(range.max, Math.max(range.min, Number(digits)))
  }

  has(name: string): boolean {
    return this.text(name) !== undefined
  }

  /** Whether a structured parameter is there; a `null` in text is as absent as a bare one. */
  hasJson(name: string): boolean {
    return !['', 'null'].includes((this.#values.get(name) ?? '').trim())
  }

  /** A structured parameter: its value, or undefined when it is absent or no JSON. */
  json(name: string): unknown {
    try {
      return JSON.parse(this.#values.get(name) ?? 'null') ?? undefined
    } catch {
      return undefined
    }
  }

  /** Negative or absent is 0, which is nobody's id. */
  messageId(name: string): number {
    return this.integer(name, { min: 0, max: 2 ** 31 - 1 })
  }

  chat(name = 'chat_id'): PublicChat {
    const value = this.text(name)
    if (value === undefined) throw failed('bad_request', `${name} is empty`)
    return chatFrom(value)
  }
}

/** `@name` or the leading integer; anything else stands for no chat. */
export function chatFrom(value: string): PublicChat {
  if (/^@.+/.test(value)) return value as `@${string}`
  const id = Number(/^-?\d+/.exec(value)?.[0] ?? 0)
  if (id === 0 || !Number.isSafeInteger(id)) throw failed('bad_request', 'chat not found')
  return id
}
