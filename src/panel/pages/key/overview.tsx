/** The state of a key: its machine, its cursor, the waiting updates, and its account. */
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { backlogQuery, chartQuery, credentialQuery } from '../../api/queries.ts'
import { baseUrl } from '../../api/session.ts'
import { type ApiKey, nameOf } from '../../api/types.ts'
import { Hint } from '../../help/hint.tsx'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { StateBadge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed, Loading, Notice } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { MachineChart } from '../history/chart.tsx'
import { Snippets } from '../keys/new-key.tsx'
import { isTroubled } from '../keys/records.tsx'

export function Overview({ apiKey }: { readonly apiKey: ApiKey }) {
  return (
    <div className="columns main">
      <div className="columns">
        <Receiving apiKey={apiKey} />
        <About apiKey={apiKey} />
      </div>
      <KeyMachine state={apiKey.state} />
    </div>
  )
}

function Receiving({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const { number } = useFormats()
  const { webhook, dropped_update_count: dropped, dropped_at } = apiKey
  const backlog = useQuery(backlogQuery(apiKey.api_key_id))
  const oldest = backlog.data?.oldest_at
  return (
    <Card title={t('keys.receiving')}>
      <dl className="figures">
        <Figure name={t('keys.mode')} value={t(`keys.mode.${apiKey.receive_mode}`)} />
        <Figure name={t('keys.pending')} value={number(apiKey.pending_update_count)} />
        {oldest && apiKey.pending_update_count > 0 && (
          <Figure name={t('account.oldest')} value={<Ago at={oldest} />} />
        )}
        {apiKey.receive_mode !== 'none' && (
          <Figure
            name={t('keys.cursor')}
            value={
              <>
                <span className="ltr">{apiKey.cursor}</span> <Hint about="cursor" />
              </>
            }
          />
        )}
      </dl>
      {dropped > 0 && (
        <Notice tone="warn">
          <p>{t.count('keys.dropped', dropped)}</p>
          {dropped_at && (
            <p className="quiet small">
              <Ago at={dropped_at} />
            </p>
          )}
        </Notice>
      )}
      {webhook && <LastError webhook={webhook} />}
    </Card>
  )
}

/** What went wrong last; it may be that the account is out, which is no trouble of the webhook. */
function LastError({ webhook }: { readonly webhook: NonNullable<ApiKey['webhook']> }) {
  const t = useT()
  const { last_error_date: at, last_error_message, last_success_date = 0 } = webhook
  if (at === undefined) return null
  const isPast = !isTroubled(webhook) && last_success_date >= at
  return (
    <Notice tone={isPast ? 'good' : 'bad'}>
      <p className="label">{t(isPast ? 'webhook.pastError' : 'webhook.lastError')}</p>
      <p className="small ltr">{last_error_message}</p>
      <p className="quiet small">
        <Ago at={at * 1000} />
      </p>
    </Notice>
  )
}

function About({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const { moment } = useFormats()
  const account = useQuery(credentialQuery(apiKey.credential_id))
  return (
    <Card title={t('keys.about')}>
      <dl className="facts">
        <dt>{t('keys.account')}</dt>
        <dd className="row">
          <Link to={`/dashboard/accounts/${apiKey.credential_id}`}>
            {account.data ? nameOf(account.data) : `#${apiKey.credential_id}`}
          </Link>
          {account.data && <StateBadge state={account.data.state} />}
        </dd>
        <dt>
          {t('keys.scopes')} <Hint about="scopes" />
        </dt>
        <dd className="mono">{apiKey.scopes.join(', ')}</dd>
        {apiKey.made_by !== null && (
          <>
            <dt>{t('keys.madeBy')}</dt>
            <dd className="ltr">{apiKey.made_by}</dd>
          </>
        )}
        <dt>{t('keys.used')}</dt>
        <dd>{apiKey.last_used_at ? <Ago at={apiKey.last_used_at} /> : t('never')}</dd>
        <dt>{t('keys.expires')}</dt>
        <dd>{apiKey.expires_at ? moment(apiKey.expires_at) : t('never')}</dd>
        <dt>{t('keys.base')}</dt>
        <dd className="row">
          <span className="mono">{baseUrl()}</span>
          <CopyButton text={baseUrl()} />
        </dd>
      </dl>
      <details>
        <summary className="small">{t('keys.snippets')}</summary>
        <p className="quiet small">{t('keys.snippets.text')}</p>
        <Snippets secret="<KEY>" />
      </details>
    </Card>
  )
}

function KeyMachine({ state }: { readonly state: ApiKey['state'] }) {
  const t = useT()
  const isDown = state === 'crashed' || state === 'failed'
  const chart = useQuery(chartQuery(isDown ? 'supervision' : 'api_key'))
  return (
    <Card title={t('account.machine')}>
      {chart.isError ? (
        <Failed cause={chart.error} retry={() => chart.refetch()} />
      ) : chart.data ? (
        <MachineChart
          chart={chart.data}
          current={state}
          tone={state.startsWith('usable') ? 'good' : 'bad'}
          label={t('account.machine.now', { state: t.word('keyState', state) })}
          names="keyState"
        />
      ) : (
        <Loading lines={5} />
      )}
    </Card>
  )
}
