/** The switches that make things go wrong for one person, and right again. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { handsOf, peopleQuery } from '../../api/sandbox.ts'
import type { Person } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Toggle } from '../../ui/figure.tsx'
import { Wrong } from '../../ui/states.tsx'
import { MeasuredFault } from './measured-fault.tsx'
import { personName } from './names.ts'

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
  const hands = handsOf(person.id)
  const changing = useMutation({
    mutationFn: (change: () => Promise<unknown>) => change(),
    onSuccess: () => queries.invalidateQueries(peopleQuery),
  })
  const put = (fault: string, details: object = {}) =>
    changing.mutate(() => hands.putFault(fault, details))
  const clear = (fault: string) => changing.mutate(() => hands.clearFault(fault))
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
        <Button busy={changing.isPending} onClick={() => changing.mutate(hands.clearFaults)}>
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
        onClick={strike}
      >
        {t('faults.now')}
      </Button>
    </div>
  )
}
