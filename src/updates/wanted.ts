/** Which updates a key is given, in SQL. */
import { DEFAULT_KINDS } from '../../machines/update-kinds.ts'

/** What a key with this filter (`k.filter`) is given of the update `u`; filters hold few entries. */
export const wantedBy = `u.api_key_id is distinct from k.id and (1 << u.kind) & coalesce(
  (select (entry->>'kinds')::int from jsonb_array_elements(k.filter) entry
    where (entry->>'from')::bigint <= u.update_id
    order by (entry->>'from')::bigint desc limit 1), ${DEFAULT_KINDS}) <> 0`
