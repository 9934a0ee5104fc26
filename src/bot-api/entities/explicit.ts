/** Reads the `entities` parameter: a JSON array of MessageEntity, each checked as the reference does. */
import { cleanText } from './clean.ts'
import { FormatError } from './error.ts'
import { readExplicitKind } from './explicit-kind.ts'
import { fields } from './fields.ts'
import { firstItems } from './first-items.ts'
import type { MessageEntity } from './types.ts'

/** Of more than five times what a message takes, the rest is dropped unread: the reference drops it, too, but reads it. */
const MOST = 500

export function parseExplicit(json: string | undefined): MessageEntity[] {
  if (json === undefined || json.trim() === '') return []
  const value = parseJson(firstItems(json, MOST))
  if (value === null) return []
  if (!Array.isArray(value)) throw new FormatError('expected an Array of MessageEntity')
  return value.flatMap((item: unknown) => readEntity(item) ?? [])
}

/**
 * Numbers stay in the sender's own digits: the API takes a number and a string alike, and
 * identifiers of custom emoji exceed what a JavaScript number can hold.
 */
function parseJson(json: string): unknown {
  try {
    return JSON.parse(json, (_key, value: unknown, context?: { source?: string }) => {
      if (typeof value === 'string' && !value.isWellFormed()) throw illFormed
      return typeof value === 'number' ? (context?.source ?? String(value)) : value
    })
  } catch (cause) {
    if (cause === illFormed) throw cause
    throw new FormatError("can't parse entities JSON object", { cause })
  }
}

const illFormed = new FormatError('strings must be encoded in UTF-8')

/** Undefined for the kinds that only the service itself finds. */
function readEntity(item: unknown): MessageEntity | undefined {
  const given = fields(item)
  const offset = given.int('offset')
  const length = given.int('length')
  const kind = readExplicitKind(given)
  if (!kind) return undefined
  const entity: MessageEntity = { ...kind, offset, length }
  if (entity.language !== undefined) entity.language = cleanText(entity.language)
  return entity
}
