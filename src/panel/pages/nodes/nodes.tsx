/** /dashboard/nodes, for operators: every node on its chart with what it has, orders to it, and accounts that are moved. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { ApiFailure } from '../../api/failure.ts'
import { chartQuery } from '../../api/queries.ts'
import type { Node } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Failed, Loading, Notice, useReason } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { MachineChart } from '../history/chart.tsx'
import { MoveAccount } from './moving.tsx'

const LOOK_MS = 2_000

const isRefused = (cause: unknown) => cause instanceof ApiFailure && cause.status === 403

const nodesQuery = queryOptions({
  queryKey: ['nodes'],
  queryFn: ({ signal }) =>
    call<readonly Node[]>('GET', '/operators/nodes', { query: { ended: 'true' }, signal }),
  refetchInterval: ({ state }) => (isRefused(state.error) ? false : LOOK_MS),
})

export function NodesPage() {
  const t = useT()
  const reason = useReason()
  const nodes = useQuery(nodesQuery)
  const living = nodes.data?.filter(({ ended_at }) => ended_at === null) ?? []
  const ended = nodes.data?.filter(({ ended_at }) => ended_at !== null) ?? []
  if (isRefused(nodes.error)) {
    return (
      <Page title={t('nav.nodes')} narrow>
        <Empty icon="nodes" title={t('nodes.refused')}>
          {t('nodes.refusedText')}
        </Empty>
      </Page>
    )
  }
  if (!nodes.data) {
    return (
      <Page title={t('nav.nodes')} lead={t('nodes.lead')}>
        {nodes.isError ? <Failed cause={nodes.error} retry={() => nodes.refetch()} /> : <Loading />}
      </Page>
    )
  }
  const names = [...new Set(living.map(({ name }) => name))]
  return (
    <Page title={t('nav.nodes')} lead={t('nodes.lead')}>
      {nodes.isError && <Notice tone="warn">{reason(nodes.error)}</Notice>}
      {living.map((node) => (
        <NodeCard key={node.incarnation} node={node} isChartOpen={living.length <= CHARTS_OPEN} />
      ))}
      <MoveAccount names={names} />
      {ended.length > 0 && (
        <Card title={t('nodes.ended.title')}>
          <ol className="records">
            {ended.map((node) => (
              <EndedRow key={node.incarnation} node={node} />
            ))}
          </ol>
        </Card>
      )}
    </Page>
  )
}

/** With more nodes than these, charts open on demand. */
const CHARTS_OPEN = 4

const tones: Readonly<Record<Node['state'], Tone>> = {
  joining: 'busy',
  up: 'good',
  suspended: 'warn',
  draining: 'warn',
  left: 'idle',
  gone: 'bad',
}

/** The path of a state in the machine: three of them lie within another one. */
const pathOf = (state: Node['state']) =>
  ['up', 'suspended', 'draining'].includes(state) ? `member.${state}` : state

/** Names are of any script: they keep their own direction. */
const isolated = (name: string) => `\u2068${name}\u2069`

interface NodeCardProps {
  readonly node: Node
  readonly isChartOpen: boolean
}

function NodeCard({ node, isChartOpen }: NodeCardProps) {
  const t = useT()
  const { name, state, self, connected, accounts } = node
  return (
    <Card
      title={name}
      aside={
        <span className="row">
          {self && <Badge tone="idle">{t('nodes.self')}</Badge>}
          {!connected && <Badge tone="bad">{t('nodes.unconnected')}</Badge>}
          <Badge tone={tones[state]} dot>
            {t.word('nodeState', pathOf(state))}
          </Badge>
          <Order node={node} />
        </span>
      }
    >
      {state === 'draining' && (
        <Notice tone={accounts > 0 ? 'busy' : 'good'}>
          <span role="status">
            {accounts > 0 ? t.count('nodes.left', accounts) : t('nodes.emptied')}
          </span>
        </Notice>
      )}
      <Figures node={node} />
      <Chart node={node} isOpen={isChartOpen} />
      <Facts node={node} />
    </Card>
  )
}

/** The lag at which calls begin to feel it. */
const SLOW_MS = 200

function Figures({ node }: { readonly node: Node }) {
  const t = useT()
  const { number, span, bytes } = useFormats()
  const { accounts, held_polls, parked, lag_ms, memory_mb, pins } = node
  const shown = <Value,>(value: Value | null, show: (value: Value) => string) =>
    value === null ? '–' : show(value)
  const slow = lag_ms !== null && lag_ms >= SLOW_MS ? 'warn' : undefined
  return (
    <dl className="figures">
      <Figure name={t('nodes.accounts')} value={number(accounts)} />
      <Figure name={t('nodes.polls')} value={shown(held_polls, number)} />
      <Figure name={t('nodes.parked')} value={shown(parked, number)} />
      <Figure name={t('nodes.lag')} value={shown(lag_ms, span)} tone={slow} />
      <Figure name={t('nodes.memory')} value={shown(memory_mb, (mb) => bytes(mb * 1e6))} />
      <Figure name={t('nodes.pins')} value={number(pins)} />
    </dl>
  )
}

function Facts({ node }: { readonly node: Node }) {
  const t = useT()
  const { span } = useFormats()
  const { incarnation, version, address, started_at, beat_age_seconds } = node
  return (
    <dl className="facts">
      <dt>{t('nodes.version')}</dt>
      <dd className="ltr">{version}</dd>
      <dt>{t('nodes.address')}</dt>
      <dd className="ltr">{address ?? '–'}</dd>
      <dt>{t('nodes.started')}</dt>
      <dd>
        <Ago at={started_at} />
      </dd>
      <dt>{t('nodes.beat')}</dt>
      <dd>{beat_age_seconds === null ? '–' : span(beat_age_seconds * 1000)}</dd>
      <dt>{t('nodes.number')}</dt>
      <dd className="ltr">{incarnation}</dd>
    </dl>
  )
}

function Chart({
  node: { name, state },
  isOpen,
}: {
  readonly node: Node
  readonly isOpen: boolean
}) {
  const t = useT()
  const chart = useQuery(chartQuery('node'))
  return (
    <details open={isOpen}>
      <summary className="small">{t('nodes.chart')}</summary>
      {chart.isError ? (
        <Failed cause={chart.error} retry={() => chart.refetch()} />
      ) : !chart.data ? (
        <Loading lines={4} />
      ) : (
        <MachineChart
          hasWords={false}
          hidesInsides
          chart={chart.data}
          current={pathOf(state)}
          tone={tones[state]}
          names="nodeState"
          label={t('nodes.machine', {
            name: isolated(name),
            state: t.word('nodeState', pathOf(state)),
          })}
        />
      )}
    </details>
  )
}

/** Drains a node, or lets it in again, after a question. */
function Order({ node: { incarnation, name, to_drain } }: { readonly node: Node }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  // The question does not change while it is open, even if new data arrives.
  const [verb, setVerb] = useState<'drain' | 'undrain'>('drain')
  const ordering = useMutation({
    mutationFn: () => call('POST', `/operators/nodes/${incarnation}/${verb}`),
    async onSuccess() {
      setAsking(false)
      toast(t(`nodes.${verb}ed`, { name: isolated(name) }))
      await queries.invalidateQueries(nodesQuery)
    },
  })
  const offered = to_drain ? 'undrain' : 'drain'
  return (
    <>
      <Button
        size="slim"
        aria-label={`${t(`nodes.${offered}`)}: ${isolated(name)}`}
        onClick={() => {
          ordering.reset()
          setVerb(offered)
          setAsking(true)
        }}
      >
        {t(`nodes.${offered}`)}
      </Button>
      {isAsking && (
        <Confirm
          title={t(`nodes.${verb}.title`, { name: isolated(name) })}
          action={t(`nodes.${verb}`)}
          open
          isMild
          busy={ordering.isPending}
          wrong={ordering.error ? reason(ordering.error) : undefined}
          onConfirm={() => ordering.mutate()}
          onClose={() => setAsking(false)}
        >
          {t(`nodes.${verb}.text`)}
        </Confirm>
      )}
    </>
  )
}

function EndedRow({ node: { name, state, version, ended_at } }: { readonly node: Node }) {
  const t = useT()
  return (
    <li className="record">
      <span className="grow">
        <span className="row">
          <bdi className="label">{name}</bdi>
          <Badge tone={tones[state]} dot>
            {t.word('nodeState', pathOf(state))}
          </Badge>
        </span>
        <span className="quiet small block">
          <span className="ltr">{version}</span> · {t('nodes.ended')}{' '}
          {ended_at !== null && <Ago at={ended_at} />}
        </span>
      </span>
    </li>
  )
}
