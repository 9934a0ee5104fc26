/** The accounts and keys that an incident concerns, each with the page where it can be mended. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { call } from '../../api/call.ts'
import { type Incident, type IncidentItem, nameOf, type RecordPage } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { StateBadge } from '../../ui/badge.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Records } from '../../ui/records.tsx'
import { Ago } from '../../ui/time.tsx'

export function Items({ incident: { incident_id: id, rule } }: { readonly incident: Incident }) {
  const t = useT()
  const log = useInfiniteQuery({
    queryKey: ['incidents', id, 'items'],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<IncidentItem>>('GET', `/alerts/${id}/items`, {
        query: { limit: 50, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
  })
  return (
    <section className="stack inset" aria-label={t('alerts.items.title')}>
      <Records
        log={log}
        none={<p className="quiet small">{t('alerts.items.none')}</p>}
        record={(item) => (
          <Item
            key={item.key?.api_key_id ?? item.credential.credential_id}
            item={item}
            rule={rule}
          />
        )}
      />
      <div>
        <ButtonLink size="slim" to={`/dashboard/accounts?incident=${id}`}>
          {t('alerts.items.select')}
        </ButtonLink>
      </div>
    </section>
  )
}

interface ItemProps {
  readonly item: IncidentItem
  readonly rule: Incident['rule']
}

function Item({ item: { credential, key, since }, rule }: ItemProps) {
  const t = useT()
  const account = nameOf(credential)
  const tab = rule === 'webhook_failing' ? '?tab=deliveries&outcome=failed' : ''
  const to = key
    ? `/dashboard/keys/${key.api_key_id}${tab}`
    : `/dashboard/accounts/${credential.credential_id}#timeline`
  return (
    <li>
      <Link to={to} className="record">
        <span className="grow">
          <bdi className="label">{key ? key.name : account}</bdi>{' '}
          {key && (
            <span className="quiet small">
              {t('alerts.items.of', { account: `\u2068${account}\u2069` })}
            </span>
          )}
          {!key && credential.reason && (
            <span className="quiet small block">{t.word('reason', credential.reason)}</span>
          )}
        </span>
        <StateBadge state={credential.state} />
        {since && (
          <span className="quiet small">
            {t('alerts.since')} <Ago at={since} />
          </span>
        )}
      </Link>
    </li>
  )
}
