/** A bar chart of a series with a coloured part in each bar, and a table of it for screen readers. */
import { useFormats } from '../i18n/formats.ts'
import { useT } from '../i18n/language.tsx'

export interface Bar {
  readonly label: string
  readonly value: number
  readonly part?: number
}

interface BarsProps {
  readonly title: string
  readonly bars: readonly Bar[]
  /** The name and colour of the marked part of each bar. */
  readonly part?: { readonly name: string; readonly tone: 'warn' | 'bad' }
}

const WIDTH = 100
const HEIGHT = 28

export function Bars({ title, bars, part: parts }: BarsProps) {
  const t = useT()
  const { number, compact } = useFormats()
  const most = Math.max(1, ...bars.map(({ value }) => value))
  const slot = WIDTH / Math.max(1, bars.length)
  const wide = slot * 0.72
  const said = (label: string, value: number, part: number) =>
    [`${label}: ${number(value)}`, parts && part > 0 && `${parts.name}: ${number(part)}`]
      .filter(Boolean)
      .join(', ')
  return (
    <figure className={parts ? `bars tone-${parts.tone}` : 'bars'}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className="base" />
        {bars.map(({ label, value, part = 0 }, place) => {
          const x = place * slot + (slot - wide) / 2
          const height = (value / most) * (HEIGHT - 1)
          const top = value === 0 ? 0 : (part / value) * height
          return (
            <g key={label + place.toString()}>
              <title>{said(label, value, part)}</title>
              <rect x={place * slot} y={0} width={slot} height={HEIGHT} className="reach" />
              <rect
                x={x}
                y={HEIGHT - height}
                width={wide}
                height={height - top}
                className="whole"
              />
              <rect x={x} y={HEIGHT - top} width={wide} height={top} className="part" />
            </g>
          )
        })}
      </svg>
      <figcaption className="row spread quiet tiny">
        <span>{bars[0]?.label}</span>
        <span>{t('bars.most', { count: compact(most) })}</span>
        <span>{bars.at(-1)?.label}</span>
      </figcaption>
      {parts && (
        <p className="legend quiet tiny">
          <span className="whole">{title}</span>
          <span className="part">{parts.name}</span>
        </p>
      )}
      <div className="unseen">
        <BarsTable title={title} bars={bars} {...(parts && { part: parts })} />
      </div>
    </figure>
  )
}

function BarsTable({ title, bars, part: parts }: BarsProps) {
  const { number } = useFormats()
  return (
    <table>
      <caption>{title}</caption>
      {parts && (
        <thead>
          <tr>
            <td />
            <th scope="col">{title}</th>
            <th scope="col">{parts.name}</th>
          </tr>
        </thead>
      )}
      <tbody>
        {bars.map(({ label, value, part = 0 }, place) => (
          <tr key={label + place.toString()}>
            <th scope="row">{label}</th>
            <td>{number(value)}</td>
            {parts && <td>{number(part)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
