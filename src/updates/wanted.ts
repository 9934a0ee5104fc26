/** The SQL conditions for the updates that a key gets. */
import { DEFAULT_KINDS } from '../../machines/model/update-kinds.ts'

/** The kinds that a key (`k.filter`) wants at this update id. Filters have few entries. */
export const kindsAt = (updateId: string) => `coalesce(
  (select (entry->>'kinds')::int from jsonb_array_elements(k.filter) entry
    where (entry->>'from')::bigint <= ${updateId}
    order by (entry->>'from')::bigint desc limit 1), ${DEFAULT_KINDS})`

/** Whether the key `k` gets the update `u`. */
export const wantedBy = `u.api_key_id is distinct from k.id
  and (1 << u.kind) & ${kindsAt('u.update_id')} <> 0`
