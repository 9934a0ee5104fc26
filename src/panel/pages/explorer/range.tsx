/** The range of time of charts of usage, kept in the address, and what is asked of the service for it. */
import { useT } from '../../i18n/language.tsx'
import { Choice } from '../../ui/form.tsx'
import { useInAddress } from '../../ui/use-in-address.ts'

const HOUR_MS = 3_600_000
const stepMs = { hour: HOUR_MS, day: 24 * HOUR_MS } as const

const ranges = {
  '24h': { step: 'hour', hours: 24 },
  '7d': { step: 'hour', hours: 7 * 24 },
  '30d': { step: 'day', hours: 30 * 24 },
  '90d': { step: 'day', hours: 90 * 24 },
} as const

type Range = keyof typeof ranges

const isRange = (text: string): text is Range => Object.hasOwn(ranges, text)

export function useRange() {
  const [given, setRange] = useInAddress('range')
  const range = isRange(given) ? given : '24h'
  const { step, hours } = ranges[range]
  // Whole steps: the service widens others, so that the first day would count for the time before as well. And each moment
  // would ask a question of its own.
  const end = Math.ceil(Date.now() / stepMs[step]) * stepMs[step]
  const until = (to: number) => ({
    step,
    from: new Date(to - hours * HOUR_MS).toISOString(),
    to: new Date(to).toISOString(),
  })
  return {
    range,
    choose: (next: string) => setRange(next === '24h' ? '' : next),
    now: until(end),
    before: until(end - hours * HOUR_MS),
  }
}

interface RangeProps {
  readonly chosen: Pick<ReturnType<typeof useRange>, 'range' | 'choose'>
  readonly hidesLabel?: boolean
}

export function RangeChoice({ chosen: { range, choose }, hidesLabel = false }: RangeProps) {
  const t = useT()
  return (
    <Choice
      label={t('usage.range')}
      hidesLabel={hidesLabel}
      value={range}
      options={[
        ['24h', t('usage.24h')],
        ['7d', t('usage.7d')],
        ['30d', t('usage.30d')],
        ['90d', t('usage.90d')],
      ]}
      onChange={choose}
    />
  )
}
