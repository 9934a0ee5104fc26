/** A bar chart of a series, with the part that went wrong in each bar; the table beside it is for the ear. */
import { useFormats } from '../i18n/formats.ts'
import { useT } from '../i18n/language.tsx'

export interface Bar {
  readonly label: string
  readonly value: number
  readonly bad?: number
}

const WIDTH = 100
const HEIGHT = 28

export function Bars({ title, bars }: { readonly title: string; readonly bars: readonly Bar[] }) {
  const t = useT()
  const { number, compact } = useFormats()
  const most = Math.max(1, ...bars.map(({ value }) => value))
  const slot = WIDTH / Math.max(1, bars.length)
  const wide = slot * 0.72
  return (
    <figure className="bars">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className="base" />
        {bars.map(({ label, value, bad = 0 }, place) => {
          const x = place * slot + (slot - wide) / 2
          const height = (value / most) * (HEIGHT - 1)
          const wrong = value === 0 ? 0 : (bad / value) * height
          return (
            <g key={label + place.toString()}>
              <title>{`${label}: ${number(value)}`}</title>
              <rect x={place * slot} y={0} width={slot} height={HEIGHT} className="reach" />
              <rect
                x={x}
                y={HEIGHT - height}
                width={wide}
                height={height - wrong}
                className="good"
              />
              <rect x={x} y={HEIGHT - wrong} width={wide} height={wrong} className="bad" />
            </g>
          )
        })}
      </svg>
      <figcaption className="row spread quiet tiny">
        <span>{bars[0]?.label}</span>
        <span>{t('bars.most', { count: compact(most) })}</span>
        <span>{bars.at(-1)?.label}</span>
      </figcaption>
      <div className="unseen">
        <table>
          <caption>{title}</caption>
          <tbody>
            {bars.map(({ label, value }, place) => (
              <tr key={label + place.toString()}>
                <th scope="row">{label}</th>
                <td>{number(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}
