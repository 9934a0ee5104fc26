/** The webhook of a key: set it, try it, remove it, and the secret that signs its deliveries. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { ApiFailure } from '../../api/failure.ts'
import type { ApiKey, SigningSecret as SecretRecord, TestAttempt } from '../../api/types.ts'
import { Hint } from '../../help/hint.tsx'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Copied } from '../../ui/copy.tsx'
import { Toggle } from '../../ui/figure.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Notice, useReason, Wrong } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { HeaderField, headerLines, headersIn } from './headers.tsx'

/** The secret with which a receiver verifies that a delivery comes from this service. */
function SigningSecret({ path }: { readonly path: string }) {
  const t = useT()
  const reason = useReason()
  const { moment } = useFormats()
  const queries = useQueryClient()
  const [isAsked, setAsked] = useState(false)
  const queryKey = ['signing-secret', path]
  const secret = useQuery({
    queryKey,
    enabled: isAsked,
    // A key that never had a webhook has no secret either.
    queryFn: ({ signal }) =>
      call<SecretRecord>('GET', `${path}/secret`, { signal }).catch((cause: unknown) => {
        if (cause instanceof ApiFailure && cause.status === 404) return null
        throw cause
      }),
    gcTime: 0,
  })
  const renewing = useMutation({
    mutationFn: () => call<SecretRecord>('POST', `${path}/secret`),
    onSuccess: (next) => queries.setQueryData(queryKey, next),
  })
  const problem = renewing.error ?? secret.error
  return (
    <Card title={t('webhook.secret')}>
      <p className="quiet small">{t('webhook.secret.text')}</p>
      {secret.data && <Copied text={secret.data.secret} wrap />}
      {secret.data === null && <p className="small">{t('webhook.secret.none')}</p>}
      {secret.data?.previous_until && (
        <p className="quiet small">
          {t('webhook.secret.previous', { moment: moment(secret.data.previous_until) })}
        </p>
      )}
      {problem && <p className="wrong">{reason(problem)}</p>}
      <div className="row">
        {!secret.data && (
          <Button busy={secret.isFetching} onClick={() => setAsked(true)}>
            {t('webhook.secret.show')}
          </Button>
        )}
        {secret.data !== undefined && (
          <Button icon="restart" busy={renewing.isPending} onClick={() => renewing.mutate()}>
            {t('webhook.secret.renew')}
          </Button>
        )}
      </div>
    </Card>
  )
}

interface TestDeliveryProps {
  readonly path: string
  readonly url: string
  readonly secret: string
  readonly headers: string
  /** Whether address and headers are the current ones: then the stored secret token is used. */
  readonly isSet: boolean
}

/** Delivers an empty update once to the address in the form, and shows the result. */
function TestDelivery({ path, url, secret, headers, isSet }: TestDeliveryProps) {
  const t = useT()
  const reason = useReason()
  const { span } = useFormats()
  const testing = useMutation({
    mutationFn: () =>
      call<TestAttempt>('POST', `${path}/test`, {
        body:
          isSet && secret === ''
            ? {}
            : {
                url,
                headers: headersIn(headers),
                ...(secret !== '' && { secret_token: secret }),
              },
      }),
  })
  const { data } = testing
  return (
    <Card title={t('webhook.test')}>
      <p className="quiet small">{t('webhook.test.text')}</p>
      <div>
        <Button
          icon="bolt"
          disabled={url === ''}
          busy={testing.isPending}
          onClick={() => testing.mutate()}
        >
          {t('webhook.test.now')}
        </Button>
      </div>
      <div aria-live="polite">
        {testing.error && <p className="wrong">{reason(testing.error)}</p>}
        {data && (
          <Notice tone={data.delivered ? 'good' : 'bad'}>
            <p className="label">{t(data.delivered ? 'webhook.test.ok' : 'webhook.test.failed')}</p>
            <p className="quiet small ltr">
              {[data.status, data.error, span(data.duration_ms)].filter(Boolean).join(' · ')}
            </p>
          </Notice>
        )}
      </div>
    </Card>
  )
}

type Webhook = NonNullable<ApiKey['webhook']>

/** What the endpoint did the last time that it did not take an update. */
function LastError({ webhook }: { readonly webhook: Webhook }) {
  const t = useT()
  const { last_error_message: message, last_error_date: at } = webhook
  if (message === undefined) return null
  return (
    <p className="small">
      {t('webhook.lastError')}: <bdi>{message}</bdi>
      {at !== undefined && (
        <>
          {' · '}
          <Ago at={at * 1000} />
        </>
      )}
    </p>
  )
}

/** Why nothing is delivered at the moment. */
function Standing({ webhook }: { readonly webhook: Webhook }) {
  const t = useT()
  const { clock } = useFormats()
  return (
    <>
      {webhook.state === 'suspended' && (
        <Notice tone="bad">
          <p>{t('webhook.suspended')}</p>
          <LastError webhook={webhook} />
        </Notice>
      )}
      {(webhook.state === 'crashed' || webhook.state === 'failed') && (
        <Notice tone="bad">{t(`webhook.${webhook.state}`)}</Notice>
      )}
      {webhook.state === 'stopped' && <Notice tone="warn">{t('webhook.stopped')}</Notice>}
      {webhook.state === 'resting' && (
        <Notice tone="warn">
          <p>{t('webhook.resting')}</p>
          <LastError webhook={webhook} />
          {webhook.next_attempt_at && (
            <p className="quiet small">
              {t('deliveries.next')}: {clock(webhook.next_attempt_at)}
            </p>
          )}
        </Notice>
      )}
    </>
  )
}

export function WebhookTab({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const { webhook } = apiKey
  const path = `/api_keys/${apiKey.api_key_id}/webhook`
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [secret, setSecret] = useState('')
  const [changed, setChanged] = useState<Partial<Terms>>({})
  return (
    <div className="columns">
      <Card title={t('webhook.title')} aside={<Hint about="webhook" />}>
        <p className="quiet small">{t('webhook.text')}</p>
        {webhook && <Standing webhook={webhook} />}
        <WebhookForm {...{ apiKey, path, url, setUrl, secret, setSecret, changed, setChanged }} />
      </Card>
      <div className="stack">
        <TestDelivery
          path={path}
          url={url.trim()}
          secret={secret}
          headers={changed.headers ?? termsOf(webhook).headers}
          isSet={webhook?.url === url.trim() && changed.headers === undefined}
        />
        <SigningSecret path={path} />
      </div>
    </div>
  )
}

interface Terms {
  /** Kinds of updates with commas between them. */
  readonly kinds: string
  readonly connections: string
  readonly drops: boolean
  /** One on each line. */
  readonly headers: string
}

const termsOf = (webhook: ApiKey['webhook']): Terms => ({
  kinds: webhook?.allowed_updates?.join(', ') ?? '',
  connections: `${webhook?.max_connections ?? 40}`,
  drops: false,
  headers: headerLines(webhook?.header_names),
})

const kindsIn = (text: string) => text.split(/[\s,،]+/).filter(Boolean)

interface TermsProps {
  readonly terms: Terms
  readonly hasWebhook: boolean
  change(changed: Partial<Terms>): void
}

/** What is added to deliveries, which updates are delivered, how many at once, and whether those that wait are. */
function Terms({ terms, hasWebhook, change }: TermsProps) {
  const t = useT()
  // At first only: it stays as it is while the kinds are typed.
  const [isOpen] = useState(hasWebhook && `${terms.kinds}${terms.headers}` !== '')
  return (
    <details open={isOpen}>
      <summary className="small">{t('webhook.more')}</summary>
      <div className="stack">
        <HeaderField lines={terms.headers} change={(headers) => change({ headers })} />
        <Field
          label={t('webhook.kinds')}
          hint={t('webhook.kinds.hint')}
          className="ltr mono"
          autoComplete="off"
          value={terms.kinds}
          onChange={(event) => change({ kinds: event.target.value })}
        />
        <Field
          label={t('webhook.connections')}
          hint={t('webhook.connections.hint')}
          type="number"
          min={1}
          max={100}
          required
          value={terms.connections}
          onChange={(event) => change({ connections: event.target.value })}
        />
        <Toggle
          label={t('webhook.drop')}
          hint={t('webhook.drop.hint')}
          on={terms.drops}
          onChange={(drops) => change({ drops })}
        />
      </div>
    </details>
  )
}

interface WebhookFormProps {
  readonly apiKey: ApiKey
  readonly path: string
  readonly url: string
  readonly secret: string
  readonly changed: Partial<Terms>
  setUrl(url: string): void
  setSecret(secret: string): void
  setChanged(changed: Partial<Terms>): void
}

function WebhookForm(props: WebhookFormProps) {
  const { apiKey, path, url, setUrl, secret, setSecret, changed, setChanged } = props
  const t = useT()
  const { webhook } = apiKey
  const { setting, removing } = useWebhookChanges(
    apiKey,
    path,
    { url, secret, changed },
    (next) => {
      // What was dropped once is not dropped again by the next change.
      setChanged({})
      if (next.webhook === null) setUrl('')
    },
  )
  return (
    <Form by={setting}>
      <Field
        label={t('webhook.url')}
        type="url"
        className="ltr"
        placeholder="https://bot.example.org/updates"
        required
        value={url}
        onChange={(event) => setUrl(event.target.value)}
      />
      <Field
        label={`${t('webhook.secretToken')} (${t('optional')})`}
        hint={
          webhook
            ? `${t('webhook.secretToken.hint')} ${t('webhook.secretToken.again')}`
            : t('webhook.secretToken.hint')
        }
        className="ltr"
        autoComplete="off"
        maxLength={256}
        value={secret}
        onChange={(event) => setSecret(event.target.value)}
      />
      <Terms
        terms={{ ...termsOf(webhook), ...changed }}
        change={(more) => setChanged({ ...changed, ...more })}
        hasWebhook={webhook !== null}
      />
      <Wrong cause={setting.error} />
      <div className="actions">
        {webhook && (
          <Button kind="danger" busy={removing.isPending} onClick={() => removing.mutate()}>
            {t('webhook.remove')}
          </Button>
        )}
        <Button type="submit" kind="first" busy={setting.isPending}>
          {t(webhook ? 'webhook.change' : 'webhook.set')}
        </Button>
      </div>
    </Form>
  )
}

interface Asked {
  readonly url: string
  readonly secret: string
  readonly changed: Partial<Terms>
}

function useWebhookChanges(
  { api_key_id, webhook }: ApiKey,
  path: string,
  { url, secret, changed }: Asked,
  onDone: (next: ApiKey) => void,
) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const keep = (next: ApiKey) => {
    queries.setQueryData(['key', api_key_id], next)
    onDone(next)
  }
  const stored = termsOf(webhook)
  const { kinds, connections, drops, headers } = { ...stored, ...changed }
  const setting = useMutation({
    mutationFn: () =>
      call<ApiKey>('PUT', path, {
        body: {
          url: url.trim(),
          ...(secret !== '' && { secret_token: secret }),
          headers: headersIn(headers),
          max_connections: Number(connections),
          // Kinds chosen by getUpdates are not shown before there is a webhook, and a network may have kinds of its own.
          ...(kinds !== stored.kinds && { allowed_updates: kindsIn(kinds) }),
          drop_pending_updates: drops,
        },
      }),
    onSuccess(next) {
      keep(next)
      toast(t('webhook.wasSet'))
    },
  })
  const removing = useMutation({
    mutationFn: () => call<ApiKey>('DELETE', path),
    onSuccess(next) {
      keep(next)
      toast(t('webhook.wasRemoved'))
    },
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return { setting, removing }
}
