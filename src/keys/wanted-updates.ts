/** The kinds of updates that the keys of an account want together, for networks that send only what they are asked for. */
import { LRUCache } from 'lru-cache'
import {
  currentlyWanted,
  DEFAULT_KINDS,
  type Filter,
  hasKind,
  namesWanted,
  UPDATE_KINDS,
} from '../../machines/model/update-kinds.ts'
import type { Database } from '../database/database.ts'
import type { WantedUpdates } from '../platforms/upstream-bot/poll.ts'

/** A key that has expired since asks for more than is wanted, which does no harm. */
const KEPT_MS = 600_000

const DEFAULT_NAMES: readonly string[] = UPDATE_KINDS.filter((_, number) =>
  hasKind(DEFAULT_KINDS, number),
)

/** The kinds that the keys want together. An empty list asks for the network's default, newer kinds included. */
function union(filters: readonly Filter[]): readonly string[] {
  const wanted = filters.map((filter) => namesWanted(currentlyWanted(filter)))
  const named = [...new Set(wanted.flatMap((names) => names ?? []))]
  if (wanted.length > 0 && !wanted.includes(undefined)) return named
  const more = named.filter((name) => !DEFAULT_NAMES.includes(name))
  return more.length === 0 ? [] : [...DEFAULT_NAMES, ...more]
}

export class KeysWantedUpdates implements WantedUpdates {
  readonly #db: Database
  readonly #names = new LRUCache<number, readonly string[]>({
    maxSize: 50_000,
    sizeCalculation: () => 1,
    ttl: KEPT_MS,
  })
  readonly #listeners = new Map<number, () => void>()
  #changes = 0

  constructor(db: Database) {
    this.#db = db
  }

  async names(credentialId: number): Promise<readonly string[]> {
    const known = this.#names.get(credentialId)
    if (known) return known
    const changes = this.#changes
    const rows = await this.#db.query<{ filter: Filter }>(
      {
        name: 'keys-wanted-updates',
        text: `select filter from api_key
                where credential_id = $1 and revoked_at is null and 'bot:receive' = any(scopes)
                  and (expires_at is null or expires_at > now())`,
      },
      [credentialId],
    )
    const names = union(rows.map(({ filter }) => filter))
    // Rows that were read before a change are not kept.
    if (changes === this.#changes) this.#names.set(credentialId, names)
    return names
  }

  /** The filter of a key was stored, or a key was made or revoked. */
  changed(credentialId: number): void {
    this.#changes++
    this.#names.delete(credentialId)
    this.#listeners.get(credentialId)?.()
  }

  onChange(credentialId: number, listener: () => void): () => void {
    this.#listeners.set(credentialId, listener)
    return () => {
      if (this.#listeners.get(credentialId) === listener) this.#listeners.delete(credentialId)
    }
  }
}
