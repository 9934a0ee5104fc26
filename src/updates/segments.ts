/** Splits a key's filter into ranges of update ids, each with its wanted kinds. */
import { DEFAULT_KINDS, type Filter, type Wanted } from '../../machines/model/update-kinds.ts'

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
