/** /dashboard: the state of all accounts, and those that need an action of the user. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import {
  incidentsQuery,
  platformsQuery,
  summaryQuery,
  urgentQuery,
  usageQuery,
} from '../../api/queries.ts'
import { handleOf, nameOf, type Summary } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge, LiveBadge, StateBadge, toneOf } from '../../ui/badge.tsx'
import { Bars } from '../../ui/bars.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Figure, Toggle } from '../../ui/figure.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Failed, Loading } from '../../ui/states.tsx'
import { RangeChoice, useRange } from '../explorer/range.tsx'

/** The accounts that do not recover by themselves, each with its remedy. */
function Attention({ summary }: { readonly summary: Summary | undefined }) {
  const t = useT()
  const { number } = useFormats()
  const urgent = useQuery(urgentQuery)
  const items = urgent.data?.items ?? []
  const needing = summary?.needing_action ?? 0
  return (
    <Card
      title={t('dashboard.attention')}
      aside={needing > 0 && <Badge tone="bad">{number(needing)}</Badge>}
    >
      {urgent.isError && !urgent.data ? (
        <Failed cause={urgent.error} retry={() => urgent.refetch()} />
      ) : !urgent.data ? (
        <Loading />
      ) : items.length === 0 ? (
        <Empty icon="check" title={t('dashboard.attention.none')}>
          {t('dashboard.attention.noneText')}
        </Empty>
      ) : (
        <ul className="records">
          {items.map((one) => (
            <li key={one.credential_id}>
              <Link to={`/dashboard/accounts/${one.credential_id}`} className="record">
                <span className="grow">
                  <span className="label clip" dir="auto">
                    {nameOf(one)}
                  </span>{' '}
                  <span className="quiet small ltr">{handleOf(one)}</span>
                  <span className="quiet small phrase">
                    {one.reason && `${t.word('reason', one.reason)}. `}
                    {t.word('action', one.action)}
                  </span>
                </span>
                <StateBadge state={one.state} />
              </Link>
            </li>
          ))}
        </ul>
      )}
      {needing > items.length && <Reasons counts={summary?.by_reason ?? {}} />}
      {needing > items.length && (
        <Link to="/dashboard/accounts?action=needed" className="small">
          {t('dashboard.attention.all')}
        </Link>
      )}
    </Card>
  )
}

/** More accounts than the list has room for, as one line for each reason. */
function Reasons({ counts }: { readonly counts: Readonly<Record<string, number>> }) {
  const t = useT()
  const { number } = useFormats()
  const groups = Object.entries(counts).sort(([, one], [, other]) => other - one)
  return (
    <ul className="reasons">
      {groups.map(([reason, count]) => (
        <li key={reason}>
          <Link to={`/dashboard/accounts?action=needed&reason=${reason}`}>
            <strong>{number(count)}</strong> {t.word('reason', reason)}
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** Always shown, in this order; other states are shown if they have accounts. */
const usual = ['active', 'connecting', 'degraded', 'logged_out', 'failed', 'invalid']

function Counts({ summary }: { readonly summary: Summary }) {
  const t = useT()
  const { number } = useFormats()
  const others = Object.keys(summary.by_state).filter((state) => !usual.includes(state))
  return (
    <ul className="tiles">
      <li>
        <Link to="/dashboard/accounts" className="tile">
          <span className="quiet small">{t('dashboard.total')}</span>
          <strong>{number(summary.total)}</strong>
        </Link>
      </li>
      {[...usual, ...others].map((state) => (
        <li key={state}>
          <Link
            to={`/dashboard/accounts?state=${state}`}
            className={`tile tone-${summary.by_state[state] ? toneOf(state) : 'idle'}`}
          >
            <span className="small name">{t.word('state', state)}</span>
            <strong>{number(summary.by_state[state] ?? 0)}</strong>
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** Problems that the states of accounts do not show; each links to the keys that have them. */
const troubles = [
  ['webhook_failing', 'dashboard.failing', '/dashboard/keys?trouble=webhook'],
  ['backlog_old', 'dashboard.behind', '/dashboard/keys?trouble=backlog'],
] as const

function Troubles() {
  const t = useT()
  const { number } = useFormats()
  const incidents = useQuery(incidentsQuery)
  if (!incidents.data) return null
  const { open, by_rule } = incidents.data
  const tiles = [
    ...troubles.map(([rule, name, to]) => ({ name: t(name), count: by_rule[rule] ?? 0, to })),
    { name: t('dashboard.incidents'), count: open, to: '/dashboard/alerts' },
  ]
  return (
    <ul className="tiles">
      {tiles.map(({ name, count, to }) => (
        <li key={name}>
          <Link to={to} className={`tile tone-${count > 0 ? 'bad' : 'idle'}`}>
            <span className="small name">{name}</span>
            <strong>{number(count)}</strong>
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** What bots have called in a range of time, apart from the panel's own calls. */
function Traffic() {
  const t = useT()
  const { compact } = useFormats()
  const chosen = useRange()
  const [compares, setCompares] = useState(false)
  const usage = useQuery(usageQuery(chosen.now))
  const before = useQuery({ ...usageQuery(chosen.before), enabled: compares })
  const { totals, series, step } = usage.data ?? {}
  const earlier = compares ? before.data?.series : undefined
  return (
    <Card title={t('dashboard.usage')} aside={<RangeChoice chosen={chosen} hidesLabel />}>
      {usage.isError && !usage.data ? (
        <Failed cause={usage.error} retry={() => usage.refetch()} />
      ) : !totals || !series ? (
        <Loading />
      ) : (
        <>
          <dl className="figures">
            <Figure name={t('dashboard.botRequests')} value={compact(totals.bot_requests)} />
            <Figure
              name={t('dashboard.managementRequests')}
              value={compact(totals.management_requests)}
            />
            <Figure
              name={t('dashboard.errors')}
              value={compact(totals.bot_errors)}
              tone={totals.bot_errors > 0 ? 'bad' : undefined}
            />
            <Figure name={t('dashboard.received')} value={compact(totals.updates_received)} />
            <Figure name={t('dashboard.delivered')} value={compact(totals.updates_delivered)} />
          </dl>
          <Bars
            title={t('dashboard.botRequests')}
            {...(step && { step })}
            bars={series.map((slot, place) => ({
              at: slot.at,
              value: slot.bot_requests,
              part: slot.bot_errors,
              ...(earlier && { before: earlier[place]?.bot_requests ?? 0 }),
            }))}
            part={{ name: t('dashboard.errors'), tone: 'bad' }}
            {...(earlier && { before: t('usage.before') })}
          />
          <Toggle label={t('usage.compare')} on={compares} onChange={setCompares} />
        </>
      )}
    </Card>
  )
}

/** The first page of a new user: an account to link, or a demo where there is the sandbox. */
function First() {
  const t = useT()
  const platforms = useQuery(platformsQuery)
  const hasSandbox = platforms.data?.some(
    ({ platform, available }) => platform === 'sandbox' && available,
  )
  return (
    <Empty
      icon="link"
      title={t('dashboard.first')}
      action={
        <div className="row">
          <ButtonLink to="/dashboard/link" kind="first">
            {t('accounts.link')}
          </ButtonLink>
          {hasSandbox && (
            <ButtonLink to="/dashboard/demo?make=all" icon="flask">
              {t('demo.make')}
            </ButtonLink>
          )}
        </div>
      }
    >
      {t('dashboard.firstText')}
    </Empty>
  )
}

export function DashboardPage() {
  const t = useT()
  const summary = useQuery(summaryQuery)
  return (
    <Page
      title={t('dashboard.title')}
      lead={t('dashboard.lead')}
      actions={
        <>
          <LiveBadge />
          <ButtonLink to="/dashboard/link" kind="first" icon="plus">
            {t('accounts.link')}
          </ButtonLink>
        </>
      }
    >
      {summary.isError && !summary.data ? (
        <Failed cause={summary.error} retry={() => summary.refetch()} />
      ) : !summary.data ? (
        <Loading lines={4} />
      ) : summary.data.total === 0 ? (
        <First />
      ) : (
        <>
          <Counts summary={summary.data} />
          <Troubles />
          <div className="columns">
            <Attention summary={summary.data} />
            <Traffic />
          </div>
        </>
      )}
    </Page>
  )
}
