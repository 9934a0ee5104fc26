/** A fault that wants a figure: how long, how much, how often. */
import { useId, useState } from 'react'
import type { Faults } from '../../api/sandbox-types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'

type Measured = 'drop' | 'flood_wait' | 'delay' | 'lose_answers'

const units = {
  drop: { name: 'seconds', first: 10, most: 86_400 },
  flood_wait: { name: 'seconds', first: 30, most: 86_400 },
  delay: { name: 'milliseconds', first: 2_000, most: 60_000 },
  lose_answers: { name: 'times', first: 1, most: 1_000 },
} as const

interface MeasuredFaultProps {
  readonly fault: Measured
  readonly faults: Faults
  readonly busy: boolean
  put(details: object): void
  clear(): void
}

export function MeasuredFault({ fault, faults, busy, put, clear }: MeasuredFaultProps) {
  const t = useT()
  const id = useId()
  const { clock, number } = useFormats()
  const { name, first, most } = units[fault]
  const [amount, setAmount] = useState(`${first}`)
  const { drop, flood_wait, delay, lose_answers } = faults
  const shown = {
    drop: drop && t('faults.until', { time: clock(drop.until) }),
    flood_wait: flood_wait && t('faults.until', { time: clock(flood_wait.until) }),
    delay: delay && `${number(delay.milliseconds)} ${t('faults.unit.milliseconds')}`,
    lose_answers: lose_answers && `${number(lose_answers.times)} ${t('faults.unit.times')}`,
  }[fault]
  return (
    <form
      className="row spread"
      onSubmit={(event) => {
        event.preventDefault()
        put({ [name]: Number(amount) })
      }}
    >
      <div className="grow">
        <label htmlFor={id} className="label">
          {t(`faults.${fault}`)}
        </label>{' '}
        {shown && <Badge tone="warn">{shown}</Badge>}
        <div className="quiet small">{t(`faults.${fault}.hint`)}</div>
      </div>
      <span className="row">
        <input
          id={id}
          className="input amount number"
          type="number"
          min={1}
          max={most}
          required
          value={amount}
          onChange={(event) => setAmount(event.target.value)}
        />
        <span className="quiet small">{t(`faults.unit.${name}`)}</span>
        {shown ? (
          <Button size="slim" disabled={busy} onClick={clear}>
            {t('faults.off')}
          </Button>
        ) : (
          <Button type="submit" size="slim" disabled={busy}>
            {t('faults.put')}
          </Button>
        )}
      </span>
    </form>
  )
}
