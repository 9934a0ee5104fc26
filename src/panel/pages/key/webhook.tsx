/** Where updates are delivered: set it, try it, remove it, and the secret that signs. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { ApiKey } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Card } from '../../ui/page.tsx'
import { Notice, useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { SigningSecret } from './signing-secret.tsx'
import { TestDelivery } from './test-delivery.tsx'

export function WebhookTab({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const { clock } = useFormats()
  const { webhook } = apiKey
  const path = `/api_keys/${apiKey.api_key_id}/webhook`
  const [url, setUrl] = useState(webhook?.url ?? '')
  const [secret, setSecret] = useState('')
  const keep = (next: ApiKey) => queries.setQueryData(['key', apiKey.api_key_id], next)
  const setting = useMutation({
    mutationFn: () =>
      call<ApiKey>('PUT', path, {
        body: {
          url: url.trim(),
          ...(secret !== '' && { secret_token: secret }),
          ...(webhook?.max_connections !== undefined && {
            max_connections: webhook.max_connections,
          }),
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
      setUrl('')
      toast(t('webhook.wasRemoved'))
    },
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <div className="columns">
      <Card title={t('webhook.title')}>
        <p className="quiet small">{t('webhook.text')}</p>
        {webhook?.state === 'suspended' && <Notice tone="bad">{t('webhook.suspended')}</Notice>}
        {(webhook?.state === 'crashed' || webhook?.state === 'failed') && (
          <Notice tone="bad">{t(`webhook.${webhook.state}`)}</Notice>
        )}
        {webhook?.state === 'resting' && (
          <Notice tone="warn">
            <p>{t('webhook.resting')}</p>
            {webhook.next_attempt_at && (
              <p className="quiet small">
                {t('deliveries.next')}: {clock(webhook.next_attempt_at)}
              </p>
            )}
          </Notice>
        )}
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            if (!setting.isPending) setting.mutate()
          }}
        >
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
          {setting.error && (
            <p className="wrong" role="alert">
              {reason(setting.error)}
            </p>
          )}
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
        </form>
      </Card>
      <div className="stack">
        <TestDelivery
          path={path}
          url={url.trim()}
          secret={secret}
          isSet={webhook?.url === url.trim()}
        />
        <SigningSecret path={path} />
      </div>
    </div>
  )
}
