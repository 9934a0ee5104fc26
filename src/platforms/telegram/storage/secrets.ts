/** The stored secrets of a link: the keys for each data centre, and the account's own data centre. */
import type { Json } from '../../../../machines/model/protocol.ts'
import { fieldsOf } from '../../kit/platform.ts'

export interface TelegramSecrets {
  /** Keys by the number of their data centre, in base64. */
  readonly keys: Readonly<Record<string, string>>
  /** The account's own data centre, in the library's encoding; absent: the default one. */
  readonly home?: string
}

/** Undefined if the stored value is not that of a link. */
export function parseSecrets(stored: Json | undefined): TelegramSecrets | undefined {
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
