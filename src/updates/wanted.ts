/** The updates that a key wants, by its filter: as SQL conditions, and as ranges of update ids with their kinds. */
import {
  DEFAULT_KINDS,
  type Filter,
  OTHER_KIND,
  type Wanted,
} from '../../machines/model/update-kinds.ts'

/** A range of update ids with the kinds that are wanted in it. */
export interface Segment extends Wanted {
  readonly from: number
  /** Excluded. */
  readonly until: number
}

/** The parts of `from` … `until` (excluded) in which one set of kinds is wanted, in order. */
export function segments(filter: Filter, from: number, until: number): Segment[] {
  const entries: Filter = [{ from: 0 }, ...filter]
  return entries
    .map(({ from: start, kinds = DEFAULT_KINDS, others }, index) => ({
      from: Math.max(from, start),
      until: Math.min(until, entries[index + 1]?.from ?? until),
      kinds,
      ...(others && { others }),
    }))
    .filter((segment) => segment.from < segment.until)
}

/** Segments as arrays, one for each column: bounds, kinds, and the names of other kinds as JSON. */
export const columnsOf = (parts: readonly Segment[]): unknown[] => [
  parts.map(({ from }) => from),
  parts.map(({ until }) => until),
  parts.map(({ kinds }) => kinds),
  parts.map(({ others }) => (others ? JSON.stringify(others) : null)),
]

/** Whether the update `u` is of one of these kinds (a bigint); `others` is a JSON array of names, or null. */
export const isOneOf = (
  u: string,
  kinds: string,
  others = 'null::jsonb',
  name = nameOf(u),
): string =>
  `(1::bigint << ${u}.kind) & ${kinds} <> 0
   and (${u}.kind <> ${OTHER_KIND} or ${others} is null or ${others} ? ${name})`

/** The name of its kind, which is the first word of its payload. */
export const nameOf = (u: string) => `split_part(${u}.payload, '"', 2)`

const entryAt = (column: string, updateId: string) => `(
  select ${column} from jsonb_array_elements(k.filter) entry
   where (entry->>'from')::bigint <= ${updateId}
   order by (entry->>'from')::bigint desc limit 1)`

/** The kinds that a key (`k.filter`) wants at this update id. Filters have few entries. */
const kindsAt = (updateId: string): string =>
  `coalesce(${entryAt("(entry->>'kinds')::bigint", updateId)}, ${DEFAULT_KINDS})`

/** The names of wanted kinds that have no number; null for all. */
const othersAt = (updateId: string): string => entryAt("entry->'others'", updateId)

/** Whether the key `k` gets the update `u`. */
export const wantedBy = `u.api_key_id is distinct from k.id
  and ${isOneOf('u', kindsAt('u.update_id'), othersAt('u.update_id'))}`
