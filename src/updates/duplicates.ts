/** Finds events that were reported before, by their source keys: in memory first, then in the log. */
import type { Database } from '../database/database.ts'
import type { Batch } from './commit.ts'
import type { Draft } from './row.ts'

const REMEMBERED = 1_000
/** Estimated size of a key in the set. */
const KEY_BYTES = 120

/** The newest source keys of one credential; loaded from the log on the first append. */
export class RecentKeys {
  readonly #keys: Set<string>

  private constructor(keys: readonly string[]) {
    this.#keys = new Set(keys)
  }

  static async load(db: Database, credentialId: number): Promise<RecentKeys> {
    const rows = await db.query<{ source_key: string }>(
      `select source_key from update_log where credential_id = $1
        order by update_id desc limit ${REMEMBERED}`,
      [credentialId],
    )
    return new RecentKeys(rows.map((row) => row.source_key).reverse())
  }

  /** Estimated memory. */
  get bytes(): number {
    return this.#keys.size * KEY_BYTES
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  add(key: string): void {
    this.#keys.add(key)
    if (this.#keys.size <= REMEMBERED) return
    const oldest = this.#keys.values().next().value
    if (oldest !== undefined) this.#keys.delete(oldest)
  }
}

/** The drafts of a batch that are not in the log yet, each once. */
export async function withoutStored(db: Database, batch: Batch): Promise<Draft[]> {
  const stored = await db.query<{ source_key: string }>(
    'select source_key from update_log where credential_id = $1 and source_key = any($2)',
    [batch.credentialId, batch.drafts.map((draft) => draft.sourceKey)],
  )
  const seen = new Set(stored.map((row) => row.source_key))
  return onceEach(batch.drafts, (key) => seen.has(key))
}

export function onceEach<Keyed extends { readonly sourceKey: string }>(
  drafts: readonly Keyed[],
  isKnown: (sourceKey: string) => boolean,
): Keyed[] {
  const own = new Set<string>()
  return drafts.filter(({ sourceKey }) => {
    if (isKnown(sourceKey) || own.has(sourceKey)) return false
    own.add(sourceKey)
    return true
  })
}
