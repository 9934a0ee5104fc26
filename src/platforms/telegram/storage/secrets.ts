/** What is kept of a link, encrypted: the keys agreed on with each data centre, and which is the account's own. */
import type { Json } from '../../../../actors/ports/platform.ts'
import { fieldsOf } from '../../kit/platform.ts'

export interface Secrets {
  /** Keys by the number of their data centre, in base64. */
  readonly keys: Readonly<Record<string, string>>
  /** The account's own data centre, in the library's encoding; absent: the one that everybody begins with. */
  readonly home?: string
}

/** `undefined` when what was stored is not what a link stores. */
export function parseSecrets(stored: Json | undefined): Secrets | undefined {
  const { keys, home } = fieldsOf(stored)
  const named = Object.entries(fieldsOf(keys))
  if (named.length === 0 || !named.every(([, key]) => isKey(key))) return undefined
  return {
    keys: Object.fromEntries(named) as Record<string, string>,
    ...(typeof home === 'string' && { home }),
  }
}

const KEY_BYTES = 256
const isKey = (key: Json) =>
  typeof key === 'string' && Buffer.from(key, 'base64').length === KEY_BYTES
