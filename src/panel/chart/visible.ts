/** Which states of a machine are drawn, and what leads from one drawn state to another. */
import type { Chart, ChartState, ChartTransition } from '../api/types.ts'

/** Without the insides of states that have a public meaning: nobody outside can tell them apart. */
export function withoutInsides(chart: Chart): Chart {
  const byPath = new Map(chart.states.map((state) => [state.path, state]))
  const isInside = (state: ChartState): boolean => {
    const parent = state.parent === null ? undefined : byPath.get(state.parent)
    return parent !== undefined && ('state' in parent.meta || isInside(parent))
  }
  const states = chart.states.filter((state) => !isInside(state))
  return { ...chart, states, transitions: chart.transitions }
}

export const ancestorsOf = (path: string): string[] =>
  path.split('.').map((_, place, names) => names.slice(0, place + 1).join('.'))

/** The innermost drawn state around a path. */
export const drawnState = (chart: Chart, path: string): string | undefined =>
  ancestorsOf(path).findLast((ancestor) => chart.states.some((state) => state.path === ancestor))

/** An arrow joins two neighbours: where the paths part, inside the state that holds both. */
export interface Arrow {
  readonly parent: string | null
  readonly from: string
  readonly to: string
}

export const keyOf = ({ from, to }: Pick<Arrow, 'from' | 'to'>) => `${from}→${to}`

/** Undefined where nothing is to be drawn: within one state, or from a state into its own inside. */
export function arrowOf(chart: Chart, from: string, to: string): Arrow | undefined {
  const start = drawnState(chart, from)
  const end = drawnState(chart, to)
  if (start === undefined || end === undefined) return undefined
  const starts = ancestorsOf(start)
  const ends = ancestorsOf(end)
  const parting = starts.findIndex((ancestor, depth) => ends[depth] !== ancestor)
  const [a, b] = [starts[parting], ends[parting]]
  if (a === undefined || b === undefined) return undefined
  return { parent: starts[parting - 1] ?? null, from: a, to: b }
}

export interface DrawnArrow extends Arrow {
  readonly events: readonly Label[]
}

export interface Label {
  readonly event: string
  /** With the name of the state inside that takes it, where that is not the one the arrow leaves. */
  readonly text: string
}

/** Where a machine goes on at once, only the way without a condition is drawn; the others are told in words. */
const isDrawn = ({ from, event, guard }: ChartTransition) =>
  from !== null && !(event === 'always' && guard !== null)

export function arrowsOf(chart: Chart): DrawnArrow[] {
  const arrows = new Map<string, DrawnArrow>()
  for (const transition of chart.transitions) {
    const { from, to, event } = transition
    if (from === null || to === null || !isDrawn(transition)) continue
    const arrow = arrowOf(chart, from, to)
    if (!arrow) continue
    const known = arrows.get(keyOf(arrow))?.events ?? []
    const origin = drawnState(chart, from)
    const inside = origin?.slice(arrow.from.length + 1)
    const text = inside ? `${inside}: ${event}` : event
    if (known.some((label) => label.text === text)) continue
    arrows.set(keyOf(arrow), { ...arrow, events: [...known, { event, text }] })
  }
  return [...arrows.values()]
}
