/** The progress of a webhook: how far the log was read, and which updates are not acknowledged yet. */

export interface Progress {
  /** Everything up to this id is acknowledged, or was never wanted. */
  readonly cursor: number
  /** Everything up to this id was read. */
  readonly head: number
  /** Number of updates between the two that are not acknowledged. */
  readonly waiting: number
  /**
   * The runs of those updates: first and last id of each, one pair after another. Of long lanes they have all ids that they
   * span, for nodes that do not know such lanes.
   */
  readonly open: readonly number[]
  /** Absent if there are none. */
  readonly long?: readonly LongLane[]
  /** If there are long lanes, the runs of `open` apart from what these span. */
  readonly apart?: readonly number[]
  /** The failed ones among them; absent if there are none. */
  readonly failing?: readonly FailingUpdate[]
}

/**
 * A lane that has more updates than are kept in memory: from one id to another none of them is acknowledged, and so many
 * there are.
 */
export type LongLane = readonly [lane: string, from: number, to: number, updates: number]

/** Consecutive failures, since when, and when the next attempt is due. */
export type FailingUpdate = readonly [
  updateId: number,
  failures: number,
  since: number,
  dueAt: number,
]

/** Less than the time after which `410 Gone` turns a webhook off. */
const UNTRIED_MS = 12 * 3_600_000
/** Longer than any rest: a receiver may ask for an hour. */
const NO_REST_MS = 61 * 60_000

/** What is due later than this was told by a clock that was ahead. */
export const latestDue = (now: number): number => now + NO_REST_MS

/** Since when it failed and when it is due, for a clock that may have been set back since that was stored. */
export const timesAt = (
  { since, dueAt }: { readonly since: number; readonly dueAt: number },
  now: number,
) =>
  since > now || dueAt > latestDue(now)
    ? { since: Math.min(since, now), dueAt: now }
    : { since, dueAt }

/**
 * How much later a failure has to count where nobody has tried again for half a day: its user was suspended, the service away,
 * or the clock is set ahead.
 * Some progress of older versions has 0 for "at once", which tells no time.
 */
export const untriedMs = (dueAt: number, now: number): number =>
  dueAt > 0 && now - dueAt >= UNTRIED_MS ? now - dueAt : 0

/**
 * Failures with which a delivery begins: the time in which nobody tried does not count, and once it is taken off it is not
 * taken off again. While an endpoint fails, one lane is tried for all, so that the time counts for the others as well:
 * `endpointMs` is how long nobody tried any of them.
 */
export const failingAt = (
  failing: readonly FailingUpdate[],
  now: number,
  endpointMs = Number.POSITIVE_INFINITY,
): FailingUpdate[] =>
  failing.map(([updateId, failures, storedSince, storedDue]) => {
    const { since, dueAt } = timesAt({ since: storedSince, dueAt: storedDue }, now)
    const later = Math.min(untriedMs(dueAt, now), endpointMs)
    return [updateId, failures, since + later, dueAt + later]
  })

/** First and last id of each run that is not acknowledged, apart from long lanes. */
export function openRuns({
  open,
  apart = open,
}: Pick<Progress, 'open' | 'apart'>): (readonly [number, number])[] {
  const pairs: [number, number][] = []
  for (let at = 0; at < apart.length; at += 2) pairs.push([apart[at] ?? 0, apart[at + 1] ?? 0])
  return pairs
}

/** First and last id of each run, in order, without common ids. */
export type Runs = readonly (readonly [number, number])[]

/** The union of the runs. */
export function joined(some: Runs, others: Runs): Runs {
  const found: [number, number][] = []
  for (const [from, to] of [...some, ...others].toSorted(([a], [b]) => a - b)) {
    const last = found.at(-1)
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else found.push([from, to])
  }
  return found
}

/** The difference: ids of the first that are not in the second. */
export function without(runs: Runs, holes: Runs): Runs {
  return runs.flatMap(([from, to]) => {
    const left: [number, number][] = []
    let next = from
    for (const [start, end] of holes) {
      if (end < next || start > to) continue
      if (start > next) left.push([next, start - 1])
      next = end + 1
    }
    if (next <= to) left.push([next, to])
    return left
  })
}

/** The intersection of the runs. */
export const common = (some: Runs, others: Runs): Runs => without(some, without(some, others))

/** Progress up to `head` with these runs and lanes open, of `waiting` updates. */
export function progressWith(
  { head, waiting }: Pick<Progress, 'head' | 'waiting'>,
  runs: Runs,
  long: readonly LongLane[] = [],
): Progress {
  const apart = runs.flat()
  const spanned = long.map(([, from, to]) => [from, to] as const)
  const open = long.length > 0 ? joined(runs, spanned).flat() : apart
  const cursor = (open[0] ?? head + 1) - 1
  return { cursor, head, waiting, open, ...(long.length > 0 && { long, apart }) }
}

/** The same progress with other runs open, of `waiting` updates; every failure is forgotten, so that nothing rests. */
export function openedAs({ head, long }: Progress, runs: Runs, waiting: number): Progress {
  const opened = progressWith({ head, waiting }, runs, long)
  return opened.open.length > 0 ? opened : { ...opened, waiting: 0 }
}
