/** Which updates a key is given, in SQL. */
import { DEFAULT_KINDS } from '../../machines/model/update-kinds.ts'

/** The kinds that a key with this filter (`k.filter`) takes where the log has this id; filters hold few entries. */
export const kindsAt = (updateId: string) => `coalesce(
  (select (entry->>'kinds')::int from jsonb_array_elements(k.filter) entry
    where (entry->>'from')::bigint <= ${updateId}
    order by (entry->>'from')::bigint desc limit 1), ${DEFAULT_KINDS})`

/** What a key with this filter is given of the update `u`. */
export const wantedBy = `u.api_key_id is distinct from k.id
  and (1 << u.kind) & ${kindsAt('u.update_id')} <> 0`
