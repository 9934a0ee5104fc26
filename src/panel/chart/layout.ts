/** Places the states of a machine: each level by itself, as one box of the level above. */
import { Graph, layout as place } from '@dagrejs/dagre'
import type { Chart, ChartState } from '../api/types.ts'
import { anyOf, arrowsOf, codeOf, type DrawnArrow, keyOf, type Label } from './visible.ts'

interface Point {
  readonly x: number
  readonly y: number
}

export interface Box extends Point {
  readonly state: ChartState
  /** For people; the code where there is no name. */
  readonly name: string
  readonly code: string
  readonly width: number
  readonly height: number
  readonly isCompound: boolean
}

interface NamedLabel extends Label {
  /** For people, with the code below it; undefined where it has only its code. */
  readonly name: string | undefined
}

export interface Edge {
  readonly key: string
  readonly labels: readonly NamedLabel[]
  readonly points: readonly Point[]
  readonly label: Point
  /** Both ends are within a state, which has a ground of its own. */
  readonly isInside: boolean
}

/** The start of transitions that every state of the level has. */
export interface Mark extends Point {
  readonly path: string
}

interface Drawing {
  readonly width: number
  readonly height: number
  readonly boxes: readonly Box[]
  readonly edges: readonly Edge[]
  readonly marks: readonly Mark[]
}

const LETTER = 7.1
const SMALL_LETTER = 6.1
/** Of a code below a name. */
const SMALLEST_LETTER = 5.2
const LINE = 15
/** Of the code below a name. */
export const SMALL_LINE = 11
const STATE_HEIGHT = 44
const PADDING = 18
const TITLE = 38
export const MARK_WIDTH = 34
export const MARK_HEIGHT = 20

/** What states and arrows are called; undefined where they have only their codes. */
export interface Naming {
  state(path: string): string | undefined
  arrow(label: Label): string | undefined
}

export function drawingOf(chart: Chart, naming: Naming): Drawing {
  const arrows = arrowsOf(chart).map(({ events, ...arrow }) => ({
    ...arrow,
    labels: events.map((label) => ({ ...label, name: naming.arrow(label) })),
  }))
  return level({ chart, arrows, naming }, null)
}

interface NamedArrow extends Omit<DrawnArrow, 'events'> {
  readonly labels: readonly NamedLabel[]
}

interface Whole {
  readonly chart: Chart
  readonly arrows: readonly NamedArrow[]
  readonly naming: Naming
}

function level(whole: Whole, parent: string | null): Drawing {
  const { chart, arrows, naming } = whole
  const states = chart.states.filter((state) => state.parent === parent)
  const insides = new Map(
    states
      .filter(({ path }) => chart.states.some((state) => state.parent === path))
      .map(({ path }) => [path, level(whole, path)]),
  )
  const own = arrows.filter((arrow) => arrow.parent === parent)
  const any = anyOf(parent)
  const hasAny = own.some(({ from }) => from === any)
  const graph = placed(states, insides, own, { any: hasAny ? any : undefined, naming })

  const boxes: Box[] = []
  const marks: Mark[] = hasAny ? [{ path: any, ...pointOf(graph.node(any)) }] : []
  const edges: Edge[] = own.map(({ from, to, labels }) => {
    const { points = [], x = 0, y = 0 } = graph.edge(from, to) as Partial<Edge & Point>
    const isInside = parent !== null
    return { key: keyOf({ from, to }), labels, points, label: { x, y }, isInside }
  })
  for (const state of states) {
    const { x, y, width, height } = graph.node(state.path) as Point & Omit<Box, 'state'>
    const inside = insides.get(state.path)
    const corner = { x: x - width / 2, y: y - height / 2 }
    const isCompound = inside !== undefined
    const code = codeOf(state.path)
    const name = naming.state(state.path) ?? code
    boxes.push({ ...corner, state, name, code, width, height, isCompound })
    if (!inside) continue
    const by = { x: corner.x + (width - inside.width) / 2, y: corner.y + TITLE }
    boxes.push(...inside.boxes.map((box) => ({ ...box, x: box.x + by.x, y: box.y + by.y })))
    edges.push(...inside.edges.map((edge) => movedEdge(edge, by)))
    marks.push(...inside.marks.map(({ path, x, y }) => ({ path, ...moved({ x, y }, by) })))
  }
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return { width, height, boxes, edges, marks }
}

/** The boxes of one level, and its arrows, as the library places them. */
function placed(
  states: readonly ChartState[],
  insides: ReadonlyMap<string, Drawing>,
  own: readonly NamedArrow[],
  { any, naming }: { readonly any: string | undefined; readonly naming: Naming },
): Graph {
  const graph = new Graph({ multigraph: false })
  graph.setGraph({
    rankdir: 'TB',
    acyclicer: 'greedy',
    nodesep: 26,
    ranksep: 30,
    edgesep: 14,
    marginx: 2,
    marginy: 2,
  })
  for (const { path } of states) {
    const inside = insides.get(path)
    graph.setNode(path, {
      width: Math.max(
        titleWidth(naming.state(path) ?? codeOf(path)),
        titleWidth(codeOf(path)),
        inside ? inside.width + 2 * PADDING : 0,
      ),
      height: inside ? inside.height + PADDING + TITLE : STATE_HEIGHT,
    })
  }
  const first = states.find(({ initial }) => initial)
  if (any !== undefined) {
    graph.setNode(any, { width: MARK_WIDTH, height: MARK_HEIGHT })
    // Not drawn: it keeps the first state at the top although others lead back to it.
    if (first) graph.setEdge(any, first.path, { width: 0, height: 0 })
  }
  for (const { from, to, labels } of own) {
    graph.setEdge(from, to, {
      width: Math.max(...labels.map(widthOf)),
      height: heightOf(labels) + 4,
      // Beside the line, which would run through the words.
      labelpos: 'r',
      labeloffset: 4,
    })
  }
  place(graph)
  return graph
}

const widthOf = ({ name, text }: NamedLabel) =>
  name === undefined
    ? text.length * SMALL_LETTER
    : Math.max(name.length * SMALL_LETTER, text.length * SMALLEST_LETTER)

export const heightOf = (labels: readonly NamedLabel[]) =>
  labels.reduce((sum, { name }) => sum + LINE + (name === undefined ? 0 : SMALL_LINE), 0)

const pointOf = (node: unknown): Point => {
  const { x, y } = node as Point
  return { x, y }
}

/** A mark stands before the title of the first state. */
const titleWidth = (title: string) => Math.max(title.length * LETTER + 34, 76)

const moved = (point: Point, by: Point): Point => ({ x: point.x + by.x, y: point.y + by.y })

const movedEdge = (edge: Edge, by: Point): Edge => ({
  ...edge,
  points: edge.points.map((point) => moved(point, by)),
  label: moved(edge.label, by),
})

/** A line through the points with its corners rounded. */
export function pathThrough(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (!first) return ''
  const steps = rest.map((point, at) => {
    const next = rest[at + 1]
    if (!next) return `L${point.x},${point.y}`
    const middle = { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 }
    return `Q${point.x},${point.y} ${middle.x},${middle.y}`
  })
  return [`M${first.x},${first.y}`, ...steps].join(' ')
}
