/** /login: a phone, then the code that was sent to it. */

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate, useSearchParams } from 'react-router'
import { ask, posting } from '../../api/ask.ts'
import { useSession } from '../../api/session.ts'
import type { SentCode } from '../../api/types.ts'
import { latinDigits } from '../../i18n/digits.ts'
import { useT } from '../../i18n/language.tsx'
import { Brand } from '../../layout/brand.tsx'
import { Preferences } from '../../layout/preferences.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Loading, Notice, useReason } from '../../ui/states.tsx'
import { CodeStep } from './code-step.tsx'
import { forgetCode, rememberCode, rememberedCode } from './sent-code.ts'

interface PhoneStepProps {
  readonly busy: boolean
  readonly failure: unknown
  send(phone: string): void
}

/** The first step of signing in: which phone. */
function PhoneStep({ busy, failure, send }: PhoneStepProps) {
  const t = useT()
  const reason = useReason()
  const [phone, setPhone] = useState('')
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy) send(phone)
      }}
    >
      <div>
        <h1>{t('login.title')}</h1>
        <p className="quiet small">{t('login.lead')}</p>
      </div>
      <Field
        label={t('phone')}
        hint={t('phone.hint')}
        wrong={failure ? reason(failure) : undefined}
        type="tel"
        name="phone"
        autoComplete="tel"
        className="ltr"
        placeholder="+14155550123"
        required
        autoFocus
        value={phone}
        onChange={(event) => setPhone(latinDigits(event.target.value))}
      />
      <Button type="submit" kind="first" busy={busy}>
        {t('login.send')}
      </Button>
    </form>
  )
}

const sendCode = (phone: string) => ask<SentCode>('/auth/sendOtp', posting({ phone }))

/** Only a page of this panel may follow the sign-in. */
const safe = (next: string | null) => (next?.startsWith('/dashboard') ? next : '/dashboard')

export function LoginPage() {
  const session = useSession()
  const t = useT()
  const [query] = useSearchParams()
  const [sent, setSent] = useState(rememberedCode)
  const sending = useMutation({
    mutationFn: sendCode,
    onSuccess: (answer) => setSent(rememberCode({ ...answer, at: Date.now() })),
  })

  if (session.state === 'in') return <Navigate to={safe(query.get('next'))} replace />
  return (
    <main className="alone">
      <title>{`${t('login.title')} · Chapar`}</title>
      <Brand />
      {!isSecureContext && <Notice tone="warn">{t('login.insecure')}</Notice>}
      <div className="card">
        {session.state === 'starting' ? (
          <Loading />
        ) : sent ? (
          <CodeStep
            sent={sent}
            resending={sending.isPending}
            failure={sending.error}
            resend={() => sending.mutate(sent.phone)}
            back={() => {
              sending.reset()
              forgetCode()
              setSent(undefined)
            }}
          />
        ) : (
          <PhoneStep
            busy={sending.isPending}
            failure={sending.error}
            send={(phone) => sending.mutate(phone)}
          />
        )}
      </div>
      <Preferences />
    </main>
  )
}
