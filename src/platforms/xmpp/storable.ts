/** Ids as their writers chose them, in a form that can be stored and found again. */
import { createHash } from 'node:crypto'

/** Beyond some 2,700 bytes the database takes none, and the event with it; what clients make is far shorter. */
const longest = 256

/** The same for the same id. */
export function storable(id: string): string {
  if (id.length <= longest && !id.includes('\0')) return id
  return `long:${createHash('sha256').update(id).digest('base64url')}`
}
