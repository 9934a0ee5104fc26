/** A negative offset: all but the newest updates of a key are given up. */
import type { Database, Statement } from '../database/database.ts'
import type { Reader } from './read.ts'
import { segments } from './segments.ts'

const oldestKept: Statement = {
  name: 'log-oldest-kept',
  text: `select update_id from update_log
          where credential_id = $1 and update_id > $2 and update_id < $3
            and api_key_id is distinct from $4
            and exists (select from unnest($6::bigint[], $7::bigint[], $8::int[])
                                 as part (start, past, kinds)
                         where update_id >= start and update_id < past and (1 << kind) & kinds <> 0)
          order by update_id desc offset $5 limit 1`,
}

export interface NewestReader extends Reader {
  /** The id the log gives next. */
  readonly next: number
  /** How many updates that the key wants are kept. */
  readonly keep: number
}

/** The cursor after which only the newest `keep` wanted updates remain. */
export async function cursorBefore(db: Database, reader: NewestReader): Promise<number> {
  const { credentialId, apiKeyId, filter, after, next, keep } = reader
  // No more ids than that: nothing can be in excess.
  if (next - 1 - after <= keep) return after
  const parts = segments(filter, after + 1, next)
  const [row] = await db.query<{ update_id: number }>(oldestKept, [
    credentialId,
    after,
    next,
    apiKeyId,
    keep - 1,
    parts.map(({ from }) => from),
    parts.map(({ until }) => until),
    parts.map(({ kinds }) => kinds),
  ])
  return row ? row.update_id - 1 : after
}
