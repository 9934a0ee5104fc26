/** The states of a machine that are drawn, and the arrows between them. */
import type { Chart, ChartState, ChartTransition } from '../api/types.ts'

/** Leaves out the inner states of states with a public meaning, because users see no difference between them. */
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

/** The last part of a path. */
export const codeOf = (path: string) => path.slice(path.lastIndexOf('.') + 1)

/** The innermost drawn state around a path. */
export const drawnState = (chart: Chart, path: string): string | undefined =>
  ancestorsOf(path).findLast((ancestor) => chart.states.some((state) => state.path === ancestor))

/** An arrow joins two states of one level: the level where the paths differ. */
interface Arrow {
  readonly parent: string | null
  readonly from: string
  readonly to: string
}

export const keyOf = ({ from, to }: Pick<Arrow, 'from' | 'to'>) => `${from}→${to}`

/** Stands for any state of a level. */
export const anyOf = (parent: string | null): string => (parent === null ? '*' : `${parent}.*`)

const isAny = (path: string): boolean => path.endsWith('*')

/** Undefined where nothing is to be drawn: within one state. From a state into its own inside it leads from any there. */
export function arrowOf(chart: Chart, from: string, to: string): Arrow | undefined {
  const start = drawnState(chart, from)
  const end = drawnState(chart, to)
  if (start === undefined || end === undefined) return undefined
  const starts = ancestorsOf(start)
  const ends = ancestorsOf(end)
  const found = starts.findIndex((ancestor, depth) => ends[depth] !== ancestor)
  const parting = found === -1 ? starts.length : found
  const parent = starts[parting - 1] ?? null
  const into = ends[parting]
  if (into === undefined) return undefined
  return { parent, from: starts[parting] ?? anyOf(parent), to: into }
}

export interface DrawnArrow extends Arrow {
  readonly events: readonly Label[]
}

export interface Label {
  readonly events: readonly string[]
  /** The inner state that has the transitions, if it is not the state at the start of the arrow. */
  readonly inner: string | undefined
  /** In codes. */
  readonly text: string
}

/** Immediate transitions with a condition are shown in words: nothing happens that could be followed. */
const isDrawn = ({ event, guard }: ChartTransition) => event !== 'always' || guard === null

/** More events of one inner state than these are drawn as one. */
const MOST_LABELS = 2

/** The events of an inner state that lead the same way, such as `leaving: …`, as one label. */
function merged(labels: readonly Label[]): readonly Label[] {
  const byInner = Map.groupBy(labels, ({ inner }) => inner)
  return [...byInner].flatMap(([inner, some]) =>
    inner === undefined || some.length <= MOST_LABELS
      ? some
      : [
          {
            events: some.flatMap(({ events }) => events),
            inner,
            text: `${codeOf(inner)} × ${some.length}`,
          },
        ],
  )
}

export function arrowsOf(chart: Chart): DrawnArrow[] {
  const arrows = new Map<string, DrawnArrow>()
  for (const transition of chart.transitions) {
    const { from, to, event } = transition
    if (from === null || to === null || !isDrawn(transition)) continue
    const arrow = arrowOf(chart, from, to)
    if (!arrow) continue
    const known = arrows.get(keyOf(arrow))?.events ?? []
    const start = drawnState(chart, from)
    const said = event === 'always' ? '' : event
    const inner = said === '' || isAny(arrow.from) || start === arrow.from ? undefined : start
    const text = inner ? `${inner.slice(arrow.from.length + 1)}: ${said}` : said
    if (known.some((label) => label.text === text)) continue
    arrows.set(keyOf(arrow), { ...arrow, events: [...known, { events: [event], inner, text }] })
  }
  return [...arrows.values()].map((arrow) => ({ ...arrow, events: merged(arrow.events) }))
}
