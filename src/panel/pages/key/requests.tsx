/** The log of requests with this key, and their answers. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { ApiKey, ApiRequest, RecordPage } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Records } from '../../ui/records.tsx'
import { Empty } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { Call } from '../explorer/call.tsx'
import { Caused } from '../explorer/caused.tsx'
import { Keeping } from '../explorer/exchanges.tsx'
import { Follow, useFollowing } from '../explorer/follow.tsx'
import { RequestFilters, requestForms, type Searching, useSearch } from '../explorer/search.tsx'

const codes = ['400', '401', '403', '404', '409', '429', '500', '502', '503', '504']

export function Requests({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const searching = useSearch(requestForms)
  const { search, change } = searching
  const following = useFollowing(search)
  const log = useInfiniteQuery({
    queryKey: ['requests', apiKey.api_key_id, search],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<ApiRequest>>('GET', '/user/logs/api-requests', {
        query: { ...search, api_key_id: apiKey.api_key_id, limit: 50, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
    refetchInterval: following.refetchInterval,
  })
  return (
    <Card
      title={t('keys.tab.requests')}
      aside={
        <div className="row">
          <Choice
            label={t('requests.code')}
            hidesLabel
            value={search.error_code ?? ''}
            options={[['', t('requests.all')], ...codes.map((one) => [one, one] as const)]}
            onChange={(error_code) => change({ error_code })}
          />
          <Follow {...following} />
          <Button size="slim" icon="restart" busy={log.isFetching} onClick={() => log.refetch()}>
            {t('requests.again')}
          </Button>
        </div>
      }
    >
      <Keeping apiKey={apiKey} of="calls" />
      <RequestFilters {...searching} />
      <Records
        log={log}
        none={<None search={search} />}
        record={(request) => (
          <RequestRecord key={request.id} keyId={apiKey.api_key_id} request={request} />
        )}
      />
    </Card>
  )
}

/** A call that is looked for may be there no more, and contents only of calls that were kept. */
function None({ search }: Pick<Searching, 'search'>) {
  const t = useT()
  const isByContent = search.text !== undefined || search.chat_id !== undefined
  return (
    <Empty icon="pulse" title={t('requests.none')}>
      {isByContent
        ? t('requests.noneKept')
        : search.request_id !== undefined && t('requests.noneSuch')}
    </Empty>
  )
}

interface RequestProps {
  readonly keyId: number
  readonly request: ApiRequest
}

function RequestRecord({ keyId, request }: RequestProps) {
  const t = useT()
  const [isOpen, setOpen] = useState(false)
  const { span, bytes, moment } = useFormats()
  const { at, method, status, description, duration_ms } = request
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="record">
          <Badge tone={status < 400 ? 'good' : 'bad'}>{`${status}`}</Badge>
          <span className="grow">
            <span className="label mono">{method}</span>
            {description && <span className="quiet small block wraps ltr">{description}</span>}
          </span>
          <span className="quiet small number">{span(duration_ms)}</span>
          <span className="quiet small">
            <Ago at={at} />
          </span>
        </summary>
        <dl className="facts inset">
          <dt>{t('deliveries.at')}</dt>
          <dd>{moment(at)}</dd>
          <dt>{t('requests.id')}</dt>
          <dd className="mono">{request.request_id}</dd>
          {request.operation && (
            <>
              <dt>{t('requests.operation')}</dt>
              <dd className="mono">{request.operation}</dd>
            </>
          )}
          <dt>{t('requests.size')}</dt>
          <dd>
            {bytes(request.request_bytes)} / {bytes(request.response_bytes)}
          </dd>
          <dt>{t('requests.from')}</dt>
          <dd className="ltr">
            {request.ip} {request.user_agent}
          </dd>
        </dl>
        {isOpen && (
          <>
            <Caused keyId={keyId} request={request} />
            <Call keyId={keyId} request={request} />
          </>
        )}
      </details>
    </li>
  )
}
