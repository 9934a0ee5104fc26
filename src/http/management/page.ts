/** Pages of lists, newest first, with cursors by id or by time and id; and the parsing of times in requests. */
import { invalidField } from '../../../machines/model/failure.ts'

/** `found` may have one record more than the page: then another page follows. */
export function pageOf<Item>(
  found: readonly Item[],
  limit: number,
  cursor: (last: Item) => string,
): { items: Item[]; next_before: string | null } {
  const items = found.slice(0, limit)
  const last = found.length > limit ? items.at(-1) : undefined
  return { items, next_before: last ? cursor(last) : null }
}

/** The query parameter that begins a page of a list ordered by ids. */
export function idBefore(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw invalidField('before', 'is not a cursor of this list')
}

interface Position {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly id: number
}

const form = /^(\d{1,15})-(\d{1,15})$/

export const cursorOf = ({ at, id }: Position): string => `${at}-${id}`

export function positionOf(cursor: string): Position {
  const [, at, id] = form.exec(cursor) ?? []
  if (!at || !id) throw invalidField('before', 'is not a cursor of this list')
  return { at: Number(at), id: Number(id) }
}

/** The last millisecond of the year 9999. */
const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

/** In milliseconds since 1970. */
export function timeOf(field: string, text: string): number {
  const at = Date.parse(text)
  if (at >= FIRST && at <= LAST) return at
  throw invalidField(field, 'must be a time such as 2026-01-31T12:00:00Z')
}
