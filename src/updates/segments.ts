/** Splits a key's filter into ranges of update ids, each with its wanted kinds. */
import { DEFAULT_KINDS, type Filter, type KindSet } from '../../machines/model/update-kinds.ts'

export interface Segment {
  readonly from: number
  /** Excluded. */
  readonly until: number
  readonly kinds: KindSet
}

/** The parts of `from` … `until` (excluded) in which one set of kinds is wanted, in order. */
export function segments(filter: Filter, from: number, until: number): Segment[] {
  const entries = [{ from: 0, kinds: DEFAULT_KINDS }, ...filter]
  return entries
    .map(({ from: start, kinds }, index) => ({
      from: Math.max(from, start),
      until: Math.min(until, entries[index + 1]?.from ?? until),
      kinds,
    }))
    .filter((segment) => segment.from < segment.until)
}
