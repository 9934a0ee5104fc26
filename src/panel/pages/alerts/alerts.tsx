/** Incidents: the problem and its beginning, with buttons to acknowledge and silence; beside them the settings and the notifications. */
import {
  infiniteQueryOptions,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { useViewed } from '../../api/queries.ts'
import type { Incident, RecordPage } from '../../api/types.ts'
import { Hint } from '../../help/hint.tsx'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import type { Translate } from '../../i18n/translate.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, Form } from '../../ui/form.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Records, recordsOf } from '../../ui/records.tsx'
import { Empty, useReason, Wrong } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { Items } from './items.tsx'
import { AlertSettingsCards } from './settings.tsx'
import { Told } from './told.tsx'

/** Those that are over are many with time, and would push one that is not off the first page. */
const incidentsQuery = (isOver: boolean) =>
  infiniteQueryOptions({
    queryKey: ['incidents', isOver ? 'over' : 'current'],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<Incident>>('GET', '/alerts', {
        query: { resolved: `${isOver}`, limit: 50, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
    refetchInterval: 15_000,
  })

export function AlertsPage() {
  const t = useT()
  // Where another user is told of incidents, nobody else reads.
  const isOwn = useViewed() === undefined
  const current = useInfiniteQuery(incidentsQuery(false))
  const over = useInfiniteQuery(incidentsQuery(true))
  const hasNone = over.data !== undefined && recordsOf(over).length === 0
  const row = (incident: Incident) => <IncidentRow key={incident.incident_id} incident={incident} />
  return (
    <Page title={t('nav.alerts')} lead={t('alerts.lead')}>
      <Card title={t('alerts.incidents')}>
        <Records
          log={current}
          none={
            hasNone && (
              <Empty icon="check" title={t('alerts.none')}>
                {t('alerts.noneText')}
              </Empty>
            )
          }
          record={row}
        />
        {current.data && <Records log={over} none={null} record={row} />}
      </Card>
      {isOwn && <AlertSettingsCards />}
      {isOwn && <Told />}
    </Page>
  )
}

const isOver = ({ state }: Incident) => state === 'resolved'

const tones: Readonly<Record<Incident['state'], Tone>> = {
  open: 'bad',
  acknowledged: 'warn',
  silenced: 'idle',
  resolved: 'good',
}

const headlineOf = (t: Translate, incident: Incident): string => {
  const { rule, affected } = incident
  return isOver(incident) || affected === 0
    ? t(`alerts.over.${rule}`)
    : t.count(`alerts.rule.${rule}`, affected)
}

const states = ['connecting', 'degraded', 'logged_out', 'invalid', 'failed']

/** The reason or the state of accounts, or the name of a node; undefined where the rule says it all. */
function causeOf(t: Translate, { rule, subject }: Incident): string | undefined {
  if (subject === rule) return undefined
  if (ofNodes.includes(rule)) return subject
  return t.word(states.includes(subject) ? 'state' : 'reason', subject)
}

/** They concern a node, not accounts. */
const ofNodes: readonly string[] = ['node_lost', 'disk_full']

function IncidentRow({ incident }: { readonly incident: Incident }) {
  const t = useT()
  const [isOpen, setOpen] = useState(false)
  const { rule, state, scope, affected } = incident
  const headline = headlineOf(t, incident)
  const cause = causeOf(t, incident)
  const name = [headline, cause].filter(Boolean).join(' · ')
  const isOfNodes = ofNodes.includes(rule)
  // Of the service an operator sees how many there are, and nobody's names.
  const hasItems = !isOver(incident) && affected > 0 && scope === 'own'
  return (
    <li>
      <div className="record wraps">
        <span className="grow">
          <span className="row">
            <span className="label">{headline}</span>
            <Badge tone={tones[state]} dot>
              {t(`alertState.${state}`)}
            </Badge>
            {scope === 'service' && (
              <Badge tone="busy">{t(isOfNodes ? 'alerts.service' : 'alerts.others')}</Badge>
            )}
          </span>
          <span className="quiet small block">
            <CauseAndTimes incident={incident} />
          </span>
        </span>
        {rule === 'node_lost' && (
          <ButtonLink size="slim" to="/dashboard/nodes">
            {t('nav.nodes')}
          </ButtonLink>
        )}
        {hasItems && (
          <Button
            size="slim"
            aria-expanded={isOpen}
            aria-label={t('alerts.items.showOne', { name })}
            onClick={() => setOpen(!isOpen)}
          >
            {t('alerts.items.show')}
          </Button>
        )}
        {!isOver(incident) && <Answers incident={incident} name={name} />}
      </div>
      {hasItems && isOpen && <Items incident={incident} />}
    </li>
  )
}

interface AnswersProps {
  readonly incident: Incident
  readonly name: string
}

/** What can be done about an incident that is not over. */
function Answers({ incident, name }: AnswersProps) {
  const t = useT()
  const [isSilencing, setSilencing] = useState(false)
  const acknowledging = useChange(incident, 'acknowledge')
  const opening = useChange(incident, 'unsilence')
  return (
    <span className="row">
      {incident.state !== 'acknowledged' && (
        <Button
          size="slim"
          busy={acknowledging.isPending}
          aria-label={t('alerts.acknowledgeOne', { name })}
          onClick={() => acknowledging.mutate({})}
        >
          {t('alerts.acknowledge')}
        </Button>
      )}
      {incident.state === 'silenced' ? (
        <Button
          size="slim"
          busy={opening.isPending}
          aria-label={t('alerts.unsilenceOne', { name })}
          onClick={() => opening.mutate({})}
        >
          {t('alerts.unsilence')}
        </Button>
      ) : (
        <Button
          size="slim"
          aria-label={t('alerts.silenceOne', { name })}
          onClick={() => setSilencing(true)}
        >
          {t('alerts.silence')}
        </Button>
      )}
      {isSilencing && <Silencing incident={incident} close={() => setSilencing(false)} />}
    </span>
  )
}

function CauseAndTimes({ incident }: { readonly incident: Incident }) {
  const t = useT()
  const { moment } = useFormats()
  const { opened_at, resolved_at, silenced_until } = incident
  const cause = causeOf(t, incident)
  return (
    <>
      {cause && <>{cause} · </>}
      {t('alerts.since')} <Ago at={opened_at} />
      {silenced_until && <> · {t('alerts.until', { moment: moment(silenced_until) })}</>}
      {resolved_at && (
        <>
          {' '}
          · {t('alerts.resolved')} <Ago at={resolved_at} />
        </>
      )}
    </>
  )
}

const changes = {
  acknowledge: ['POST', 'acknowledge'],
  silence: ['POST', 'silence'],
  unsilence: ['DELETE', 'silence'],
} as const

function useChange({ incident_id }: Incident, change: keyof typeof changes) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: { readonly minutes?: number }) =>
      call<Incident>(changes[change][0], `/alerts/${incident_id}/${changes[change][1]}`, {
        ...(change === 'silence' && { body }),
      }),
    async onSuccess() {
      toast(t(`alerts.${change}.done`))
      await queries.invalidateQueries({ queryKey: ['incidents'] })
    },
    onError: (cause) => toast(reason(cause), 'bad'),
  })
}

const HOUR = 60
const DAY = 24 * HOUR

function Silencing({ incident, close }: { readonly incident: Incident; close(): void }) {
  const t = useT()
  const [minutes, setMinutes] = useState(`${HOUR}`)
  const silencing = useChange(incident, 'silence')
  const by = {
    isPending: silencing.isPending,
    mutate: () => silencing.mutate({ minutes: Number(minutes) }, { onSuccess: close }),
  }
  const options = [
    ...[1, 8].map((count) => [`${count * HOUR}`, t.count('alerts.hours', count)] as const),
    ...[1, 7].map((count) => [`${count * DAY}`, t.count('alerts.days', count)] as const),
  ]
  return (
    <Dialog title={t('alerts.silence.title')} open isFirm={silencing.isPending} onClose={close}>
      <Form by={by}>
        <p>
          {t('alerts.silence.text')} <Hint about="silence" />
        </p>
        <Choice
          label={t('alerts.silence.for')}
          value={minutes}
          options={options}
          onChange={setMinutes}
        />
        <Wrong cause={silencing.error} />
        <div className="actions">
          <Button disabled={silencing.isPending} onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" kind="first" busy={silencing.isPending}>
            {t('alerts.silence')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
