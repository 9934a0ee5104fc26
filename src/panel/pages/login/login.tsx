/** /login: a phone, then the code that was sent to it. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Navigate, useSearchParams } from 'react-router'
import { ask, posting } from '../../api/failure.ts'
import { useSession } from '../../api/queries.ts'
import { signIn } from '../../api/session.ts'
import type { SentCode } from '../../api/types.ts'
import { latinDigits } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Brand } from '../../layout/brand.tsx'
import { Preferences } from '../../layout/preferences.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { useTitle } from '../../ui/page.tsx'
import { Loading, Notice, useReason } from '../../ui/states.tsx'
import { useSecondsLeft } from '../../ui/time.tsx'

interface CodeStepProps {
  readonly sent: WaitedCode
  readonly resending: boolean
  readonly failure: unknown
  resend(): void
  back(): void
}

/** The second step of signing in: the code, and another one when it does not come. */
function CodeStep({ sent, resending, failure, resend, back }: CodeStepProps) {
  const t = useT()
  const reason = useReason()
  const [code, setCode] = useState('')
  const left = useSecondsLeft(sent.at + sent.resend_in * 1000)
  const entering = useMutation({
    async mutationFn() {
      await signIn(sent.phone, code, sent.challenge_id)
      forgetCode()
    },
  })
  const problem = entering.error ?? failure
  return (
    <Form by={entering}>
      <div>
        <h1>{t('login.code')}</h1>
        <p className="quiet small">
          {t(sent.channel === 'console' ? 'login.sent.console' : 'login.sent')}{' '}
          <span className="ltr">{sent.phone}</span>
        </p>
      </div>
      <Field
        label={t('code')}
        wrong={problem ? reason(problem) : undefined}
        className="code ltr"
        inputMode="numeric"
        autoComplete="one-time-code"
        name="otp"
        pattern="[0-9]{6,8}"
        maxLength={8}
        required
        autoFocus
        value={code}
        onChange={(event) => setCode(latinDigits(event.target.value).replace(/\D/g, ''))}
      />
      <Button type="submit" kind="first" busy={entering.isPending}>
        {t('login.enter')}
      </Button>
      <div className="row spread">
        <Button kind="bare" size="slim" onClick={back}>
          {t('login.otherPhone')}
        </Button>
        <Button kind="bare" size="slim" busy={resending} disabled={left > 0} onClick={resend}>
          {left > 0 ? t('code.resendIn', { seconds: left }) : t('code.resend')}
        </Button>
      </div>
    </Form>
  )
}

/** The sent code. It survives a reload, because phones often unload the page while the user reads the message. */
interface WaitedCode extends SentCode {
  /** When it was sent. */
  readonly at: number
}

const KEPT = 'chapar.sent-code'

function rememberCode(sent: WaitedCode): WaitedCode {
  sessionStorage.setItem(KEPT, JSON.stringify(sent))
  return sent
}

const forgetCode = (): void => sessionStorage.removeItem(KEPT)

/** Undefined if no code was sent, or it has expired. */
function rememberedCode(): WaitedCode | undefined {
  const kept = sessionStorage.getItem(KEPT)
  if (kept === null) return undefined
  const sent = JSON.parse(kept) as WaitedCode
  return sent.at + sent.expires_in * 1000 > Date.now() ? sent : undefined
}

interface PhoneStepProps {
  readonly busy: boolean
  readonly failure: unknown
  send(phone: string): void
}

/** The first step of signing in: the phone number. */
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

/** The sign-in continues only on pages of this panel, never at another site. */
const safe = (next: string | null) => (next?.startsWith('/dashboard') ? next : '/dashboard')

export function LoginPage() {
  const session = useSession()
  const t = useT()
  const [query] = useSearchParams()
  useTitle(t('login.title'))
  const [sent, setSent] = useState(rememberedCode)
  const sending = useMutation({
    mutationFn: sendCode,
    onSuccess: (answer) => setSent(rememberCode({ ...answer, at: Date.now() })),
  })

  if (session.state === 'in') return <Navigate to={safe(query.get('next'))} replace />
  return (
    <main className="alone">
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
