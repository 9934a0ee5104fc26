/** How a cost grows with a size: the slope of a straight line through the points on two logarithmic scales. */
import type { Finding } from './finding.ts'
import { percentile } from './statistics.ts'

/** Where the cost doubles with the size it is 1, where it stays it is 0. Measuring is not exact: a tenth is forgiven. */
const LINEAR = 1
const TOLERANCE = 0.1

export interface Point {
  readonly size: number
  /** Milliseconds, of several turns. */
  readonly costs: readonly number[]
}

const median = ({ costs }: Point) => percentile(costs, 0.5)

/** The least squares of the logarithms. */
export function slopeOf(points: readonly Point[]): number {
  const places = points.map((point) => [Math.log(point.size), Math.log(median(point))] as const)
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(places.map(([at]) => at)), mean(places.map(([, value]) => value))]
  const along = mean(places.map(([at, value]) => (at - x) * (value - y)))
  return along / mean(places.map(([at]) => (at - x) ** 2))
}

export function lawOf(what: string, points: readonly Point[]): Finding {
  const slope = slopeOf(points)
  const costs = points.map((point) => median(point).toPrecision(3)).join(', ')
  const sizes = points.map(({ size }) => size.toLocaleString('en')).join(' / ')
  return {
    what: `${what}: ${sizes}`,
    ours: `slope ${slope.toFixed(2)} (${costs} ms)`,
    target: `≤ ${LINEAR + TOLERANCE}`,
    met: slope <= LINEAR + TOLERANCE,
  }
}

/**
 * Measures each size in turn, so that whatever else the machine does meets all alike. The first turn does not count: code is
 * compiled and caches are filled in it.
 */
export async function pointsOf<Subject extends { readonly size: number }>(
  subjects: readonly Subject[],
  turns: number,
  measure: (subject: Subject) => Promise<number>,
): Promise<Point[]> {
  const points = subjects.map(({ size }) => ({ size, costs: [] as number[] }))
  for (let turn = 0; turn <= turns; turn++) {
    for (const [place, subject] of subjects.entries()) {
      const cost = await measure(subject)
      if (turn > 0) points[place]?.costs.push(cost)
    }
  }
  return points
}
