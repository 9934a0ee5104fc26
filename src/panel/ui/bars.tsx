/** A chart of bars over time: axes, the figures under the pointer, a line to compare with, and all of it as a table. */
import { type RefObject, useEffect, useRef, useState } from 'react'
import type UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useFormats } from '../i18n/formats.ts'
import { useT } from '../i18n/language.tsx'

interface Bar {
  /** The beginning of the hour or day. */
  readonly at: string
  readonly value: number
  /** How much of the value is marked. */
  readonly part?: number
  /** The value of the same hour or day of the period to compare with. */
  readonly before?: number
}

interface BarsProps {
  readonly title: string
  readonly bars: readonly Bar[]
  readonly step?: 'hour' | 'day'
  /** The name and colour of the marked part of each bar. */
  readonly part?: { readonly name: string; readonly tone: 'warn' | 'bad' }
  /** The name of the period to compare with. */
  readonly before?: string
  readonly isTall?: boolean
  /** Shows a value; a short number without it. */
  readonly format?: (value: number) => string
}

/** What a canvas shows of them. */
type Drawn = Pick<BarsProps, 'bars' | 'step' | 'part' | 'before'>

const secondsOf = { hour: 3_600, day: 86_400 } as const
/** Labels closer than this would touch. */
const LABEL_PIXELS = 72
/** More hours than these are named by their days. */
const HOURS_NAMED = 48

export function Bars(props: BarsProps) {
  const { title, bars, part, before, isTall = false } = props
  const t = useT()
  const place = useRef<HTMLDivElement>(null)
  const pointed = usePlot(place, props)
  const bar = pointed && bars[pointed.index]
  return (
    <figure className={part ? `bars tone-${part.tone}` : 'bars'}>
      <div ref={place} className={isTall ? 'plot tall' : 'plot'} aria-hidden="true">
        {bar && <Pointed {...props} bar={bar} left={pointed.left} />}
      </div>
      {(part || before) && (
        <p className="legend quiet tiny" aria-hidden="true">
          <span className="whole">{title}</span>
          {part && <span className="part">{part.name}</span>}
          {before && <span className="before">{before}</span>}
        </p>
      )}
      <details className="tiny">
        <summary>{t('bars.table')}</summary>
        <BarsTable {...props} />
      </details>
    </figure>
  )
}

/** The time of a bar in words, and the values of a bar with their names. */
function useWords({ title, step = 'hour', part, before, format }: BarsProps) {
  const { number, dayOfUtc, moment } = useFormats()
  const shown = format ?? number
  return {
    time: (at: string) => (step === 'hour' ? moment(at) : dayOfUtc(at)),
    values: (bar: Bar) => [
      { name: title, value: shown(bar.value), className: 'whole' },
      ...(part ? [{ name: part.name, value: shown(bar.part ?? 0), className: 'part' }] : []),
      ...(before ? [{ name: before, value: shown(bar.before ?? 0), className: 'before' }] : []),
    ],
  }
}

function Pointed({
  bar,
  left,
  ...props
}: BarsProps & { readonly bar: Bar; readonly left: number }) {
  const { time, values } = useWords(props)
  return (
    <div
      className={left > 0.5 ? 'pointed before-it' : 'pointed'}
      style={{ left: `${left * 100}%` }}
    >
      <strong dir="auto">{time(bar.at)}</strong>
      {values(bar).map(({ name, value, className }) => (
        <span key={className} className={className} dir="auto">
          {name}: {value}
        </span>
      ))}
    </div>
  )
}

function BarsTable(props: BarsProps) {
  const { time, values } = useWords(props)
  const [first] = props.bars
  return (
    // A scrolling area must be reachable by keyboard.
    <section className="scroll" tabIndex={0} aria-label={props.title}>
      <table>
        <caption className="unseen">{props.title}</caption>
        <thead>
          <tr>
            <td />
            {first &&
              values(first).map(({ name }) => (
                <th key={name} scope="col" dir="auto">
                  {name}
                </th>
              ))}
          </tr>
        </thead>
        <tbody>
          {props.bars.map((bar) => (
            <tr key={bar.at}>
              <th scope="row" dir="auto">
                {time(bar.at)}
              </th>
              {values(bar).map(({ className, value }) => (
                <td key={className} dir="auto">
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface PointedAt {
  readonly index: number
  /** Between 0 and 1, from the left edge of the chart. */
  readonly left: number
}

/** Draws on a canvas in `place`; returns the bar under the pointer. The library comes with the first chart. */
function usePlot(place: RefObject<HTMLDivElement | null>, props: BarsProps): PointedAt | undefined {
  const [pointed, setPointed] = useState<PointedAt>()
  const [failed, setFailed] = useState<{ readonly cause: unknown }>()
  const { compact, hour, date, dateOfUtc } = useFormats()
  const { bars, step, part, before, format } = props
  // As text, because the objects are new with each answer.
  const text = JSON.stringify({ bars, step, part, before })
  const tell = useRef(setPointed)
  useEffect(() => {
    const root = place.current
    const drawn = JSON.parse(text) as Drawn
    const { bars, step = 'hour' } = drawn
    if (!root || bars.length === 0) return
    let plot: UPlot | undefined
    const look = new AbortController()
    const resize = new ResizeObserver(() => plot?.setSize(sizeOf(root)))
    const redraw = () => plot?.redraw()
    const themes = new MutationObserver(redraw)
    const draw = (Plot: typeof UPlot) => {
      if (look.signal.aborted) return
      const named = step === 'day' ? dateOfUtc : bars.length <= HOURS_NAMED ? hour : date
      const label = (seconds: number) => named(seconds * 1_000)
      const options = optionsOf(Plot, root, drawn, { label, value: format ?? compact })
      const setCursor = ({ cursor: { idx, left = -1 }, over }: UPlot) =>
        tell.current(
          idx === null || idx === undefined || left < 0
            ? undefined
            : { index: idx, left: (over.offsetLeft + left) / root.clientWidth },
        )
      plot = new Plot({ ...options, hooks: { setCursor: [setCursor] } }, dataOf(drawn), root)
      resize.observe(root)
      themes.observe(document.documentElement, { attributeFilter: ['data-theme'] })
      const dark = matchMedia('(prefers-color-scheme: dark)')
      dark.addEventListener('change', redraw, { signal: look.signal })
    }
    import('uplot')
      .then(({ default: Plot }) => draw(Plot))
      .catch((cause: unknown) => setFailed({ cause }))
    return () => {
      look.abort()
      resize.disconnect()
      themes.disconnect()
      plot?.destroy()
      tell.current(undefined)
    }
  }, [text, place, compact, hour, date, dateOfUtc, format])
  // As for a page that does not come.
  if (failed) throw failed.cause
  return pointed
}

const timesOf = (bars: readonly Bar[]) => bars.map(({ at }) => Date.parse(at) / 1_000)

const dataOf = ({ bars, part, before }: Drawn): UPlot.AlignedData => [
  timesOf(bars),
  bars.map(({ value }) => value),
  ...(part ? [bars.map((bar) => bar.part ?? 0)] : []),
  ...(before ? [bars.map((bar) => bar.before ?? 0)] : []),
]

const sizeOf = ({ clientWidth, clientHeight }: HTMLElement) => ({
  width: clientWidth,
  height: clientHeight,
})

/** The colour that a name of the style sheet has in the present theme: a canvas knows no names. */
function colourOf(root: HTMLElement, name: string): string {
  const sample = document.createElement('i')
  sample.style.color = `var(--${name})`
  root.append(sample)
  const { color } = getComputedStyle(sample)
  sample.remove()
  return color
}

interface Labels {
  label(seconds: number): string
  value(value: number): string
}

function optionsOf(
  Plot: typeof UPlot,
  root: HTMLElement,
  { bars, step = 'hour', part, before }: Drawn,
  { label, value }: Labels,
): UPlot.Options {
  const times = timesOf(bars)
  const half = secondsOf[step] / 2
  const named = (name: string) => () => colourOf(root, name)
  const font = `12px ${getComputedStyle(root).fontFamily}`
  const axis = { stroke: named('quiet'), font, ticks: { show: false } }
  const paths = Plot.paths.bars?.({ size: [0.72, 48] })
  const ofBars = (name: string): UPlot.Series => ({
    fill: named(name),
    width: 0,
    points: { show: false },
    ...(paths && { paths }),
  })
  const line: UPlot.Series = {
    stroke: named('quiet'),
    width: 1.5,
    dash: [4, 4],
    points: { show: false },
  }
  return {
    ...sizeOf(root),
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: () => [(times[0] ?? 0) - half, (times.at(-1) ?? 0) + half] },
      y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.05)] },
    },
    axes: [
      {
        ...axis,
        // The name of the first hour would touch the zero of the other axis.
        gap: 9,
        size: 32,
        grid: { show: false },
        splits: (plot) => labelled(times, plot.width, step),
        values: (_plot, splits) => splits.map(label),
      },
      {
        ...axis,
        size: 40,
        grid: { stroke: named('line'), width: 1 },
        incrs: [1, 2, 5]
          .flatMap((n) => Array.from({ length: 13 }, (_, power) => n * 10 ** power))
          .sort((a, b) => a - b),
        values: (_plot, splits) => splits.map(value),
      },
    ],
    series: [{}, ofBars('accent'), ...(part ? [ofBars(part.tone)] : []), ...(before ? [line] : [])],
  }
}

/** Every bar is named, or every second, third …; of many hours the days are named, at midnight. */
function labelled(times: readonly number[], width: number, step: 'hour' | 'day'): number[] {
  const isMany = step === 'hour' && times.length > HOURS_NAMED
  const places = isMany
    ? times.filter((seconds) => new Date(seconds * 1_000).getHours() === 0)
    : times
  const every = Math.ceil((places.length * LABEL_PIXELS) / Math.max(1, width))
  return places.filter((_, place) => place % every === 0)
}
