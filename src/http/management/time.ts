/** Times that clients give. Their format lets a few spellings pass that neither a Date nor the database takes. */
import { invalidField } from '../../../machines/model/failure.ts'

/** As far as four digits of a year go. */
const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

/** In milliseconds since 1970. */
export function timeOf(field: string, text: string): number {
  const at = Date.parse(text)
  if (at >= FIRST && at <= LAST) return at
  throw invalidField(field, 'must be a time such as 2026-01-31T12:00:00Z')
}
