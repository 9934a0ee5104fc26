/** The SQL conditions for the updates that a key gets. */
import { DEFAULT_KINDS, OTHER_KIND } from '../../machines/model/update-kinds.ts'

/** Whether the update `u` is of one of these kinds (a bigint); `others` is a JSON array of names, or null. */
export const isOneOf = (u: string, kinds: string, others = 'null::jsonb'): string =>
  `(1::bigint << ${u}.kind) & ${kinds} <> 0
   and (${u}.kind <> ${OTHER_KIND} or ${others} is null or ${others} ? ${nameOf(u)})`

/** The name of its kind, which is the first word of its payload. */
const nameOf = (u: string) => `split_part(${u}.payload, '"', 2)`

const entryAt = (column: string, updateId: string) => `(
  select ${column} from jsonb_array_elements(k.filter) entry
   where (entry->>'from')::bigint <= ${updateId}
   order by (entry->>'from')::bigint desc limit 1)`

/** The kinds that a key (`k.filter`) wants at this update id. Filters have few entries. */
export const kindsAt = (updateId: string): string =>
  `coalesce(${entryAt("(entry->>'kinds')::bigint", updateId)}, ${DEFAULT_KINDS})`

/** Of the kinds without a number, the names of those that it wants; null for all. */
export const othersAt = (updateId: string): string => entryAt("entry->'others'", updateId)

/** Whether the key `k` gets the update `u`. */
export const wantedBy = `u.api_key_id is distinct from k.id
  and ${isOneOf('u', kindsAt('u.update_id'), othersAt('u.update_id'))}`
