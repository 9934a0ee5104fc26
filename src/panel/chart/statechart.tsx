/** A machine as a drawing, with its current state and latest transition, and the same chart in words. */
import { memo, useEffect, useId, useMemo, useRef } from 'react'
import type { Chart, ChartTransition } from '../api/types.ts'
import { useT } from '../i18n/language.tsx'
import {
  type Box,
  drawingOf,
  type Edge,
  heightOf,
  MARK_HEIGHT,
  MARK_WIDTH,
  type Mark,
  type Naming,
  pathThrough,
  SMALL_LINE,
} from './layout.ts'
import {
  ancestorsOf,
  anyOf,
  arrowOf,
  codeOf,
  drawnState,
  keyOf,
  withoutInsides,
} from './visible.ts'

/** A transition to show. */
interface Step {
  readonly from: string
  readonly to: string
  readonly event: string
}

interface StatechartProps {
  readonly chart: Chart
  /** Path of the current state. */
  readonly current: string | undefined
  /** Colour of the current state's light. */
  readonly tone: string
  /** Animated once; a new `id` animates it again. */
  readonly latest?: (Step & { readonly id: string }) | undefined
  /** Chosen in the timeline. */
  readonly chosen?: Step | undefined
  readonly label: string
  /** The group of messages with the names of its states. */
  readonly names?: 'inner' | 'keyState' | 'nodeState' | undefined
  /** The states that it goes through when all is well. */
  readonly way?: readonly string[]
}

/** The names of the group in the reader's language, and those of events. */
function useNaming(group: StatechartProps['names']): Naming {
  const t = useT()
  return useMemo(() => {
    const known = (among: string, code: string) => {
      const name = t.word(among, code)
      return name === code.replaceAll('_', ' ') ? undefined : name
    }
    const state = (path: string) => (group === undefined ? undefined : known(group, path))
    return {
      state,
      arrow({ events, inner }) {
        const event = known('arrow', events[0] ?? '')
        if (inner === undefined) return event
        const name = state(inner) ?? codeOf(inner)
        if (events.length > 1) return t('account.machine.several', { name, count: events.length })
        return event && t('account.machine.inside', { state: name, event })
      },
    }
  }, [group, t])
}

const MARGIN = 12
/** The smallest scale. With less room than that the drawing scrolls. */
const SMALLEST = 0.8

interface MachineChartProps extends StatechartProps {
  /** What lies within a state that people are told of is not shown. */
  readonly hidesInsides?: boolean
  readonly hasWords?: boolean
}

/** A machine as a drawing and in words. */
export function MachineChart({
  hidesInsides = false,
  hasWords = true,
  ...props
}: MachineChartProps) {
  const { chart: whole, names } = props
  const chart = useMemo(() => (hidesInsides ? withoutInsides(whole) : whole), [hidesInsides, whole])
  return (
    <>
      <Statechart {...props} chart={chart} />
      {hasWords && <ChartWords chart={chart} names={names} />}
    </>
  )
}

function Statechart({ names, ...props }: StatechartProps) {
  const { chart, current, tone, latest, chosen, label, way = [] } = props
  const naming = useNaming(names)
  const head = useId()
  const drawing = useMemo(() => drawingOf(chart, naming), [chart, naming])
  const width = drawing.width + 2 * MARGIN
  const lit = current === undefined ? undefined : drawnState(chart, current)
  const around = new Set(lit === undefined ? [] : ancestorsOf(lit))
  const ends = chosen && [drawnState(chart, chosen.from), drawnState(chart, chosen.to)]
  const edgeKey = (step: Step | undefined) => {
    const arrow = step && arrowOf(chart, step.from, step.to)
    if (!arrow) return undefined
    const keys = [keyOf(arrow), keyOf({ from: anyOf(arrow.parent), to: arrow.to })]
    return keys.find((key) => drawing.edges.some((edge) => edge.key === key))
  }
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const box = drawing.boxes.find(({ state }) => state.path === lit)
    if (place.current && box) show(place.current, box, width)
  }, [drawing, lit, width])
  const taken = edgeKey(latest)
  const onWay = way.slice(1).map((to, at) => edgeKey({ from: way[at] ?? '', to, event: '' }))
  const picked = edgeKey(chosen)
  const of = { lit, around, ends }
  const saidOn = (key: string) =>
    key === picked ? chosen?.event : key === taken ? latest?.event : undefined
  return (
    <div ref={place} className="statechart" tabIndex={0} role="group" aria-label={label}>
      <svg
        viewBox={`${-MARGIN} ${-MARGIN} ${width} ${drawing.height + 2 * MARGIN}`}
        width={width}
        height={drawing.height + 2 * MARGIN}
        style={{ minWidth: width * SMALLEST }}
        className={`tone-${tone}`}
        role="img"
        aria-label={label}
      >
        <ArrowHead id={head} />
        <StateBoxes boxes={drawing.boxes.filter((box) => box.isCompound)} {...of} />
        {drawing.marks.map((mark) => (
          <AnyState key={mark.path} mark={mark} />
        ))}
        {drawing.edges.map((edge) => (
          <Arrow
            key={edge.key === taken ? `${edge.key} ${latest?.id}` : edge.key}
            edge={edge}
            head={head}
            look={lookOf(edge.key, { picked, taken, onWay })}
          />
        ))}
        {/* A line may pass behind a state, and never over it. */}
        <StateBoxes boxes={drawing.boxes.filter((box) => !box.isCompound)} {...of} />
        {/* Over all lines: the halo of a label would not hide one that is drawn later. */}
        {drawing.edges.map((edge) => (
          <ArrowWords key={edge.key} edge={edge} event={saidOn(edge.key)} />
        ))}
      </svg>
    </div>
  )
}

interface Marked {
  readonly picked: string | undefined
  readonly taken: string | undefined
  readonly onWay: readonly (string | undefined)[]
}

function lookOf(key: string, { picked, taken, onWay }: Marked): string {
  if (key === picked) return 'picked'
  if (key === taken) return 'taken'
  return onWay.includes(key) ? 'way' : ''
}

/** Scrolls a drawing that is wider than its place to the current state. */
function show(place: HTMLElement, box: Box, width: number) {
  const scale = place.scrollWidth / width
  place.scrollTo({ left: (box.x + box.width / 2) * scale - place.clientWidth / 2 })
}

interface StateBoxesProps {
  readonly boxes: readonly Box[]
  readonly lit: string | undefined
  readonly around: ReadonlySet<string>
  readonly ends: readonly (string | undefined)[] | undefined
}

const StateBoxes = ({ boxes, lit, around, ends }: StateBoxesProps) =>
  boxes.map((box) => (
    <StateBox
      key={box.state.path}
      box={box}
      isLit={box.state.path === lit}
      isAround={around.has(box.state.path)}
      isChosen={ends?.includes(box.state.path) ?? false}
    />
  ))

interface StateBoxProps {
  readonly box: Box
  readonly isLit: boolean
  readonly isAround: boolean
  readonly isChosen: boolean
}

const StateBox = memo(function StateBox({ box, isLit, isAround, isChosen }: StateBoxProps) {
  const { x, y, width, height, name, code, state, isCompound } = box
  const looks = [
    'state',
    isCompound && 'compound',
    isLit && 'lit',
    isAround && 'around',
    isChosen && 'chosen',
  ]
  // The words of the first state keep clear of its mark.
  const middle = x + (isCompound ? 24 : width / 2 + (state.initial ? 5 : 0))
  return (
    <g className={looks.filter(Boolean).join(' ')} data-state={state.path}>
      <rect x={x} y={y} width={width} height={height} rx={9} />
      {state.type === 'final' && (
        <rect x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={6} className="inner" />
      )}
      {state.initial && <circle cx={x + 12} cy={y + (isCompound ? 16 : height / 2)} r={3.5} />}
      <text x={middle} y={y + (isCompound ? 18 : height / 2 + (name === code ? 4.5 : -1.5))}>
        {name}
      </text>
      {name !== code && (
        <text className="code" x={middle} y={y + (isCompound ? 31 : height / 2 + 12.5)}>
          {code}
        </text>
      )}
    </g>
  )
})

interface ArrowProps {
  readonly edge: Edge
  readonly head: string
  readonly look: string
}

const Arrow = memo(function Arrow({ edge, head, look }: ArrowProps) {
  return (
    <g className={`edge ${look}`}>
      <path d={pathThrough(edge.points)} markerEnd={`url(#${head})`} pathLength={1} />
    </g>
  )
})

interface ArrowWordsProps {
  readonly edge: Edge
  /** What has just led along it, or is chosen. */
  readonly event: string | undefined
}

const ArrowWords = memo(function ArrowWords({ edge, event }: ArrowWordsProps) {
  const top = edge.label.y - heightOf(edge.labels) / 2
  return (
    <g className={edge.isInside ? 'edge-words inside' : 'edge-words'}>
      {edge.labels.map(({ name, text, events }, line) => {
        const y = top + heightOf(edge.labels.slice(0, line)) + 11
        return (
          <g key={text} className={event !== undefined && events.includes(event) ? 'said' : ''}>
            <text x={edge.label.x} y={y}>
              {name ?? text}
            </text>
            {name !== undefined && (
              <text className="code" x={edge.label.x} y={y + SMALL_LINE}>
                {text}
              </text>
            )}
          </g>
        )
      })}
    </g>
  )
})

const ArrowHead = ({ id }: { readonly id: string }) => (
  <defs>
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="7"
      markerHeight="7"
      orient="auto"
    >
      <path d="M0,0.500 L8,4 L0,7.500 Z" className="arrow" />
    </marker>
  </defs>
)

function AnyState({ mark: { x, y } }: { readonly mark: Mark }) {
  const t = useT()
  return (
    <g className="any">
      <rect
        x={x - MARK_WIDTH / 2}
        y={y - MARK_HEIGHT / 2}
        width={MARK_WIDTH}
        height={MARK_HEIGHT}
        rx={MARK_HEIGHT / 2}
      />
      <text x={x} y={y + 3.5}>
        {t('account.machine.any')}
      </text>
    </g>
  )
}

type ChartWordsProps = Pick<StatechartProps, 'chart' | 'names'>

function ChartWords({ chart, names }: ChartWordsProps) {
  const t = useT()
  const naming = useNaming(names)
  const stateOf = (path: string) => naming.state(path) ?? path
  const eventOf = (event: string) =>
    naming.arrow({ events: [event], inner: undefined, text: event }) ?? event
  const leads = ({ event, to, guard }: ChartTransition) => (
    <span key={`${event} ${to} ${guard}`} className="block">
      {t('account.machine.leads', {
        event: isolated(eventOf(event)),
        state: isolated(stateOf(to ?? '')),
      })}
      <span className="mono quiet tiny">
        {' '}
        <bdi>{event}</bdi>
        {guard && <bdi> [{guard}]</bdi>}
      </span>
    </span>
  )
  const anywhere = chart.transitions.filter(({ from, to }) => from === null && to !== null)
  return (
    <details className="small">
      <summary>{t('account.machine.list')}</summary>
      <dl className="facts">
        <div className="pair">
          <dt>{t('account.machine.anywhere')}</dt>
          <dd>{anywhere.map((one) => leads(one))}</dd>
        </div>
        {chart.states.map(({ path }) => (
          <div key={path} className="pair">
            <dt>
              {naming.state(path)} <bdi className="mono tiny">{path}</bdi>
            </dt>
            <dd>
              {chart.transitions.filter(({ from, to }) => from === path && to !== null).map(leads)}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** Latin names keep their own direction inside a Persian sentence. */
const isolated = (name: string) => `\u2068${name}\u2069`
