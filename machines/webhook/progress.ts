/** The progress of a webhook: how far the log was read, and which updates are not acknowledged yet. */

export interface Progress {
  /** Everything up to this id is acknowledged, or was never wanted. */
  readonly cursor: number
  /** Everything up to this id was read. */
  readonly head: number
  /** Number of updates between the two that are not acknowledged. */
  readonly waiting: number
  /** The runs of those updates: first and last id of each, one pair after another. */
  readonly open: readonly number[]
  /** The failed ones among them; absent if there are none. */
  readonly failing?: readonly FailingUpdate[]
}

/** Consecutive failures, since when, and when the next attempt is due. */
export type FailingUpdate = readonly [
  updateId: number,
  failures: number,
  since: number,
  dueAt: number,
]

const DAY_MS = 86_400_000

/** How much later a failure has to count where nobody has tried again for a day: its user was suspended, or the service away. */
export const untriedMs = (dueAt: number, now: number): number =>
  dueAt > 0 && now - dueAt >= DAY_MS ? now - dueAt : 0

/** Failures with which a delivery begins: the time in which nobody tried does not count. */
export const failingAt = (failing: readonly FailingUpdate[], now: number): FailingUpdate[] =>
  failing.map(([updateId, failures, since, dueAt]) => [
    updateId,
    failures,
    since + untriedMs(dueAt, now),
    dueAt,
  ])

/** First and last id of each run that is not acknowledged. */
export function openRuns({ open }: Pick<Progress, 'open'>): (readonly [number, number])[] {
  const pairs: [number, number][] = []
  for (let at = 0; at < open.length; at += 2) pairs.push([open[at] ?? 0, open[at + 1] ?? 0])
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

/** The same progress with other runs open, of `waiting` updates; every failure is forgotten, so that nothing rests. */
export function openedAs({ head }: Progress, runs: Runs, waiting: number): Progress {
  const open = runs.flat()
  return { cursor: (open[0] ?? head + 1) - 1, head, waiting: open.length && waiting, open }
}
