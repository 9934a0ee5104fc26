/** The secret that signs deliveries: shown when it is asked for, and renewed. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { ApiFailure } from '../../api/failure.ts'
import type { SigningSecret as SecretRecord } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Copied } from '../../ui/copy.tsx'
import { Card } from '../../ui/page.tsx'
import { useReason } from '../../ui/states.tsx'

/** The secret by which a receiver knows that a delivery is ours. */
export function SigningSecret({ path }: { readonly path: string }) {
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
