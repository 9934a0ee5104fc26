/** The health of the account: the stored facts, and a test on request. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { Credential, HealthReport } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Wrong } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useFix } from '../diagnosis/remedy.tsx'

export function Health({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const [sendTo, setSendTo] = useState('')
  const { health } = credential
  const testing = useMutation({
    mutationFn: () =>
      call<HealthReport>('POST', `/platforms/credentials/${credential.credential_id}/test`, {
        body: sendTo.trim() === '' ? {} : { send_to: sendTo.trim() },
      }),
  })
  const tested = testing.data
  // A test shows an earlier moment: newer facts replace its result.
  const isNewest =
    tested?.state === credential.state && tested.checked_at >= (health.checked_at ?? '')
  const healthy = isNewest ? tested.healthy : health.healthy
  const verdict = healthy === null ? 'unknown' : healthy ? 'healthy' : 'unhealthy'
  return (
    <Card
      title={t('account.health')}
      aside={
        <Badge tone={healthy === null ? 'idle' : healthy ? 'good' : 'bad'} dot>
          {t(`account.health.${verdict}`)}
        </Badge>
      }
    >
      <Facts credential={credential} />
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          testing.mutate()
        }}
      >
        <Field
          label={t('account.health.sendTo')}
          hint={t('account.health.sendToHint')}
          className="ltr"
          value={sendTo}
          onChange={(event) => setSendTo(event.target.value)}
        />
        <div>
          <Button type="submit" icon="pulse" busy={testing.isPending}>
            {t('account.health.test')}
          </Button>
        </div>
      </form>
      <Wrong cause={testing.error} />
      {testing.data && <Checks report={testing.data} />}
    </Card>
  )
}

function Facts({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const { span } = useFormats()
  const { health, online_since, node } = credential
  const never = t('never')
  return (
    <dl className="facts">
      <dt>{t('account.health.checked')}</dt>
      <dd>{health.checked_at ? <Ago at={health.checked_at} /> : never}</dd>
      <dt>{t('account.health.event')}</dt>
      <dd>{health.last_event_at ? <Ago at={health.last_event_at} /> : never}</dd>
      <dt>{t('account.health.latency')}</dt>
      <dd>{health.latency_ms === null ? t('unknown') : span(health.latency_ms)}</dd>
      {online_since && (
        <>
          <dt>{t('account.health.online')}</dt>
          <dd>
            <Ago at={online_since} />
          </dd>
        </>
      )}
      {node && (
        <>
          <dt>{t('account.health.node')}</dt>
          <dd className="mono">{node}</dd>
        </>
      )}
    </dl>
  )
}

function Checks({ report }: { readonly report: HealthReport }) {
  const t = useT()
  const fix = useFix()
  const { span } = useFormats()
  return (
    <ul className="records" aria-live="polite">
      {report.checks.map(({ check, ok, latency_ms, detail, detail_code, code, remedy }) => (
        <li key={check} className="record">
          <span className="grow">
            <span className="label">{t.word('check', check)}</span>
            <span className="quiet small block" dir="auto">
              {t.fact(detail_code, detail)}
            </span>
            {code !== null && <span className="small block">{fix(code, remedy)}</span>}
          </span>
          {latency_ms !== null && <span className="quiet small number">{span(latency_ms)}</span>}
          <Badge tone={ok === null ? 'idle' : ok ? 'good' : 'bad'}>
            {t(ok === null ? 'check.skipped' : ok ? 'check.ok' : 'check.failed')}
          </Badge>
        </li>
      ))}
    </ul>
  )
}
