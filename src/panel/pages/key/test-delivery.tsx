/** Delivers an empty update once, to what stands in the form, and says how it went. */

import { useMutation } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { TestAttempt } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/page.tsx'
import { Notice, useReason } from '../../ui/states.tsx'

export interface TestDeliveryProps {
  readonly path: string
  readonly url: string
  readonly secret: string
  /** Whether the address is the one that is set: then its own secret is used. */
  readonly isSet: boolean
}

export function TestDelivery({ path, url, secret, isSet }: TestDeliveryProps) {
  const t = useT()
  const reason = useReason()
  const { span } = useFormats()
  const testing = useMutation({
    mutationFn: () =>
      call<TestAttempt>('POST', `${path}/test`, {
        body: isSet && secret === '' ? {} : { url, ...(secret !== '' && { secret_token: secret }) },
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
