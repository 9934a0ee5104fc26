/** /dashboard/account/audit: who changed what, from where; searched, and saved as a file. */
import { useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Action } from '../../../audit/actions.ts'
import { call, save } from '../../api/call.ts'
import type { AuditedChange, RecordPage } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice } from '../../ui/form.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Records } from '../../ui/records.tsx'
import { Empty, useReason } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import {
  changeForms,
  Filters,
  type Searching,
  Time,
  Typed,
  useSearch,
} from '../explorer/search.tsx'

const kinds = [
  ...['session', 'token', 'key', 'webhook', 'account', 'link', 'bulk', 'view', 'alert'],
  ...['sandbox', 'user', 'node', 'service'],
] as Kind[]
type Kind = Action extends `${infer Name}.${string}` ? Name : never

function ChangeFilters(searching: Searching) {
  const t = useT()
  const { search, change } = searching
  return (
    <Filters {...searching}>
      <Choice
        label={t('audit.kind')}
        value={search.action ?? ''}
        options={[
          ['', t('requests.all')],
          ...kinds.map((kind) => [kind, t(`audit.of.${kind}`)] as const),
        ]}
        onChange={(action) => change({ action })}
      />
      <Typed {...searching} name="target_id" label={t('audit.targetId')} />
      <Time {...searching} name="since" label={t('resend.first')} />
      <Time {...searching} name="until" label={t('resend.last')} />
    </Filters>
  )
}

function Export({ search }: Pick<Searching, 'search'>) {
  const t = useT()
  const toast = useToast()
  const reason = useReason()
  const saving = useMutation({
    mutationFn: () => save('/audit/export', { query: search }, 'audit.jsonl'),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <Button size="slim" icon="download" busy={saving.isPending} onClick={() => saving.mutate()}>
      {t('audit.export')}
    </Button>
  )
}

export function AuditPage() {
  const t = useT()
  const searching = useSearch(changeForms)
  const { search } = searching
  const log = useInfiniteQuery({
    queryKey: ['audit', search],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<AuditedChange>>('GET', '/audit', {
        query: { ...search, limit: 50, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
  })
  const crumbs = <Link to="/dashboard/account">{t('nav.account')}</Link>
  return (
    <Page title={t('audit.title')} lead={t('audit.lead')} crumbs={crumbs}>
      <Card title={t('audit.changes')} aside={<Export search={search} />}>
        <ChangeFilters {...searching} />
        <Records
          log={log}
          none={<Empty icon="pulse" title={t('audit.none')} />}
          record={(change) => <ChangeRecord key={change.id} change={change} />}
        />
      </Card>
    </Page>
  )
}

function ChangeRecord({ change }: { readonly change: AuditedChange }) {
  const t = useT()
  const { moment } = useFormats()
  const { at, action, via, target_id, ip, request_id, author_id, token_id, before, after } = change
  return (
    <li>
      <details>
        <summary className="record">
          <span className="grow">
            <span className="row">
              <span className="label">{t(`audit.action.${action as Action}`)}</span>
              {target_id !== null && <span className="mono quiet">{target_id}</span>}
            </span>
            <span className="quiet small block">
              {t(`audit.via.${via as Via}`)}
              {via !== 'service' && (
                <>
                  {' · '}
                  <span className="ltr">{ip ?? t('unknown')}</span>
                </>
              )}
            </span>
          </span>
          <span className="quiet small">
            <Ago at={at} />
          </span>
        </summary>
        <dl className="facts inset">
          <dt>{t('deliveries.at')}</dt>
          <dd>{moment(at)}</dd>
          <Fact name={t('audit.author')} value={author_id} />
          <Fact name={t('audit.token')} value={token_id} />
          <Fact name={t('requests.id')} value={request_id} />
        </dl>
        <Values title={t('audit.before')} values={before} />
        <Values title={t('audit.after')} values={after} />
      </details>
    </li>
  )
}

type Via = 'sign_in' | 'token' | 'page' | 'code' | 'command' | 'service'

function Fact({ name, value }: { readonly name: string; readonly value: string | number | null }) {
  if (value === null) return null
  return (
    <>
      <dt>{name}</dt>
      <dd className="mono">{value}</dd>
    </>
  )
}

function Values({
  title,
  values,
}: {
  readonly title: string
  readonly values: AuditedChange['before']
}) {
  if (values === null) return null
  return (
    <>
      <p className="label small">{title}</p>
      <pre tabIndex={0}>{JSON.stringify(values, undefined, 2)}</pre>
    </>
  )
}
