/** The switches that make things go wrong for one person, and right again. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { type Faults, type Person, peopleQuery, personApi } from '../../api/sandbox.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Toggle } from '../../ui/figure.tsx'
import { Wrong } from '../../ui/states.tsx'
import { personName } from './names.tsx'

const switches = ['silence', 'duplicate', 'reorder', 'ban'] as const
const measured = ['drop', 'flood_wait', 'delay', 'lose_answers'] as const
const blows = ['revoke', 'replace'] as const

interface FaultsDialogProps {
  readonly person: Person
  onClose(): void
}

export function FaultsDialog({ person, onClose }: FaultsDialogProps) {
  const t = useT()
  const queries = useQueryClient()
  const api = personApi(person.id)
  const changing = useMutation({
    mutationFn: (change: () => Promise<unknown>) => change(),
    onSuccess: () => queries.invalidateQueries(peopleQuery),
  })
  const put = (fault: string, details: object = {}) =>
    changing.mutate(() => api.putFault(fault, details))
  const clear = (fault: string) => changing.mutate(() => api.clearFault(fault))
  return (
    <Dialog title={t('faults.of', { name: personName(person) })} open wide onClose={onClose}>
      <p className="quiet small">{t('faults.lead')}</p>
      <div className="stack faults">
        {switches.map((fault) => (
          <Toggle
            key={fault}
            label={t(`faults.${fault}`)}
            hint={t(`faults.${fault}.hint`)}
            on={person.faults[fault] !== undefined}
            disabled={changing.isPending}
            onChange={(on) => (on ? put(fault) : clear(fault))}
          />
        ))}
        {measured.map((fault) => (
          <MeasuredFault
            key={fault}
            fault={fault}
            faults={person.faults}
            busy={changing.isPending}
            put={(details) => put(fault, details)}
            clear={() => clear(fault)}
          />
        ))}
        {blows.map((fault) => (
          <Blow key={fault} fault={fault} busy={changing.isPending} strike={() => put(fault)} />
        ))}
      </div>
      <Wrong cause={changing.error} />
      <div className="actions">
        <Button busy={changing.isPending} onClick={() => changing.mutate(api.clearFaults)}>
          {t('faults.clear')}
        </Button>
        <Button kind="first" onClick={onClose}>
          {t('close')}
        </Button>
      </div>
    </Dialog>
  )
}

interface BlowProps {
  readonly fault: (typeof blows)[number]
  readonly busy: boolean
  strike(): void
}

/** A fault that happens once, at the press of its button. */
function Blow({ fault, busy, strike }: BlowProps) {
  const t = useT()
  const [isAsking, setAsking] = useState(false)
  return (
    <div className="row spread">
      <div className="grow">
        <div className="label">{t(`faults.${fault}`)}</div>
        <div className="quiet small">{t(`faults.${fault}.hint`)}</div>
      </div>
      <Button
        kind="danger"
        size="slim"
        disabled={busy}
        aria-label={`${t('faults.now')}: ${t(`faults.${fault}`)}`}
        onClick={() => setAsking(true)}
      >
        {t('faults.now')}
      </Button>
      <Confirm
        title={t(`faults.${fault}`)}
        action={t(`faults.${fault}`)}
        open={isAsking}
        onConfirm={() => {
          setAsking(false)
          strike()
        }}
        onClose={() => setAsking(false)}
      >
        {t(`faults.${fault}.sure`)}
      </Confirm>
    </div>
  )
}

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

/** A fault that wants a figure: how long, how much, how often. */
function MeasuredFault({ fault, faults, busy, put, clear }: MeasuredFaultProps) {
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
