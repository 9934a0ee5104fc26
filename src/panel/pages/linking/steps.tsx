/** The current step of a link flow, or its end, for the user and for an invited owner of the account. */
import { useMutation } from '@tanstack/react-query'
import { type PropsWithChildren, type ReactNode, useMemo, useRef, useState } from 'react'
import { encode } from 'uqr'
import { ApiFailure } from '../../api/failure.ts'
import { type LinkField, type LinkSession, nameOf } from '../../api/types.ts'
import { latinDigits } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Toggle } from '../../ui/figure.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Notice, useReason, Wrong } from '../../ui/states.tsx'
import { Until, useSecondsLeft } from '../../ui/time.tsx'

/** Which account is linked, which step this is, and how long the code and the attempt last. */
function About({ session }: { readonly session: LinkSession }) {
  const t = useT()
  const { step, platform, phone, jid, code_expires_in, expires_in } = session
  const identifier = phone ?? jid
  return (
    <dl className="facts">
      <dt>{t('linking.account')}</dt>
      <dd>
        {t.word('platform', platform)}
        {identifier !== undefined && (
          <>
            {' · '}
            <bdi className="ltr">{identifier}</bdi>
          </>
        )}
      </dd>
      {step && (
        <>
          <dt>{t('linking.step')}</dt>
          <dd>
            {t(step.password_may_follow ? 'linking.step.orMore' : 'linking.step.of', {
              number: step.number,
              of: step.of,
            })}
          </dd>
        </>
      )}
      {code_expires_in !== null && (
        <>
          <dt>{t('linking.code.until')}</dt>
          <dd>
            <Until seconds={code_expires_in} over={t('linking.code.over')} />
          </dd>
        </>
      )}
      <dt>{t('linking.until')}</dt>
      <dd>
        <Until seconds={expires_in} over={t('linking.over')} />
      </dd>
    </dl>
  )
}

interface AnswerFormProps {
  readonly kind: 'code' | 'password'
  readonly session: LinkSession
  keep(session: LinkSession): void
  lookAgain(): void
  answer(text: string): Promise<LinkSession>
}

const ALL_TRIES = 5

/** The entered answer stays if the network did not judge it, so that it can be sent again. */
const isRefused = (cause: unknown) =>
  cause instanceof ApiFailure && cause.status >= 400 && cause.status < 500 && cause.status !== 429

/** One answer of a link flow: the code or the password, with how many tries are left. */
function AnswerForm({ kind, session, keep, lookAgain, answer }: AnswerFormProps) {
  const t = useT()
  const reason = useReason()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const answering = useMutation({
    mutationFn: () => answer(text.trim()),
    onSuccess: keep,
    onError: (cause) => {
      if (isRefused(cause)) setText('')
      lookAgain()
      input.current?.focus()
    },
  })
  const isCode = kind === 'code'
  return (
    <Form by={answering} isReady={text.trim() !== ''}>
      <Field
        ref={input}
        label={t(isCode ? 'code' : 'linking.password')}
        name={kind}
        type={isCode ? 'text' : 'password'}
        inputMode={isCode ? 'numeric' : 'text'}
        autoComplete={isCode ? 'one-time-code' : 'off'}
        className={isCode ? 'code ltr' : 'ltr'}
        {...(isCode && session.code_length !== null && { maxLength: session.code_length })}
        required
        autoFocus
        value={text}
        wrong={answering.error ? reason(answering.error) : undefined}
        hint={
          session.attempts_left < ALL_TRIES
            ? t.count('linking.attempts', session.attempts_left)
            : undefined
        }
        onChange={({ target: { value } }) => setText(isCode ? latinDigits(value) : value)}
      />
      <div className="actions">
        <Button type="submit" kind="first" busy={answering.isPending}>
          {t('linking.continue')}
        </Button>
      </div>
    </Form>
  )
}

const QUIET = 3

/** A text as a QR code, black on white in every theme: scanners want it so. */
function QrCode({ value, label }: { readonly value: string; readonly label: string }) {
  const { size, path } = useMemo(() => drawn(value), [value])
  return (
    <svg
      className="qr"
      viewBox={`${-QUIET} ${-QUIET} ${size + 2 * QUIET} ${size + 2 * QUIET}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect x={-QUIET} y={-QUIET} width={size + 2 * QUIET} height={size + 2 * QUIET} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

function drawn(value: string) {
  const { data, size } = encode(value, { border: 0 })
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x},${y}h1v1h-1z` : '')))
    .join('')
  return { size, path }
}

interface ResendProps {
  readonly session: LinkSession
  keep(session: LinkSession): void
  resend(): Promise<LinkSession>
}

/** Another code, once the network allows it. */
function Resend({ session, keep, resend }: ResendProps) {
  const t = useT()
  const end = useMemo(() => Date.now() + (session.resend_in ?? 0) * 1000, [session.resend_in])
  const left = useSecondsLeft(end)
  const sending = useMutation({ mutationFn: resend, onSuccess: keep })
  if (session.resend_in === null) return null
  return (
    <div className="stack tight">
      <div>
        <Button
          kind="bare"
          size="slim"
          disabled={left > 0}
          busy={sending.isPending}
          onClick={() => sending.mutate()}
        >
          {left > 0 ? t('code.resendIn', { seconds: left }) : t('code.resend')}
        </Button>
      </div>
      <Wrong cause={sending.error} />
    </div>
  )
}

type LinkAnswer = { readonly otp: string } | { readonly password: string }

interface LinkStepsProps {
  readonly session: LinkSession
  keep(session: LinkSession): void
  /** A wrong answer leaves fewer attempts. */
  lookAgain(): void
  verify(answer: LinkAnswer): Promise<LinkSession>
  resend(): Promise<LinkSession>
  /** Said once it is linked, by a page that can see how the account gets on. */
  readonly linked?: ReactNode
}

export function LinkSteps({ session, keep, lookAgain, verify, resend, linked }: LinkStepsProps) {
  const t = useT()
  switch (session.state) {
    case 'code_sent':
      return (
        <Card title={t('linking.code.title')}>
          <p className="quiet">
            {session.sent_via
              ? t('linking.code.sentVia', { way: t.way(session.sent_via_code, session.sent_via) })
              : t('linking.code.sent')}
          </p>
          <About session={session} />
          <AnswerForm
            key="code"
            kind="code"
            session={session}
            keep={keep}
            lookAgain={lookAgain}
            answer={(otp) => verify({ otp })}
          />
          <Resend session={session} keep={keep} resend={resend} />
        </Card>
      )
    case 'password_needed':
      return (
        <Card title={t('linking.password.title')}>
          <p className="quiet">{t('linking.password.text')}</p>
          <About session={session} />
          {session.password_hint && (
            <Notice>{t('linking.password.hint', { hint: session.password_hint })}</Notice>
          )}
          <AnswerForm
            key="password"
            kind="password"
            session={session}
            keep={keep}
            lookAgain={lookAgain}
            answer={(password) => verify({ password })}
          />
        </Card>
      )
    case 'waiting':
      return <Shown session={session} />
    case 'linked':
      return <Linked session={session}>{linked}</Linked>
    default:
      return (
        <Card title={t.word('linking.ended', session.state)}>
          <Notice tone="warn">
            {session.reason ? t.word('reason', session.reason) : t('linking.ended.text')}
          </Notice>
        </Card>
      )
  }
}

function Linked({ session, children }: Pick<LinkStepsProps, 'session'> & PropsWithChildren) {
  const t = useT()
  return (
    <Card title={t('linking.linked.title')}>
      <Empty icon="check" title={session.credential ? nameOf(session.credential) : ''}>
        {children || t('linking.linked.text')}
      </Empty>
    </Card>
  )
}

/** The code that the user scans or enters on the other device. */
function Shown({ session }: { readonly session: LinkSession }) {
  const t = useT()
  const { show } = session
  return (
    <Card title={t('linking.show.title')}>
      <p className="quiet">{t(show?.form === 'qr' ? 'linking.show.qr' : 'linking.show.pairing')}</p>
      {show?.form === 'qr' ? (
        <QrCode value={show.value} label={t('linking.show.qr')} />
      ) : (
        <p className="pairing mono">{show?.value}</p>
      )}
      <About session={session} />
    </Card>
  )
}

/** A field that asks for consent instead of a value. */
const CONSENT = 'delete_webhook'

interface LinkInputProps {
  readonly field: LinkField
  readonly value: string
  readonly wrong: string | undefined
  onChange(value: string): void
}

/** A field that a network wants to know first. */
export function LinkInput({ field, value, wrong, onChange }: LinkInputProps) {
  const t = useT()
  return field.name === CONSENT ? (
    <Toggle
      label={t(`linking.field.${CONSENT}`)}
      hint={t(`linking.field.${CONSENT}.hint`)}
      on={value === 'true'}
      onChange={(on) => onChange(on ? 'true' : '')}
    />
  ) : (
    <Field
      label={labelOf(field, t)}
      {...inputOf(field)}
      required={field.required}
      className="ltr"
      value={value}
      wrong={wrong}
      onChange={({ target }) =>
        onChange(field.name === 'phone' ? latinDigits(target.value) : target.value)
      }
    />
  )
}

/** The panel's label for fields that many networks have; otherwise the network's own label. */
const labelOf = ({ name, label, required }: LinkField, t: ReturnType<typeof useT>) => {
  const known = t.word('linking.field', name)
  const text = known === name.replaceAll('_', ' ') ? label : known
  return required ? text : `${text} (${t('optional')})`
}

function inputOf({ name, secret }: LinkField) {
  if (secret) return { type: 'password', autoComplete: 'off', name }
  if (name === 'phone') {
    return { type: 'tel', autoComplete: 'off', name, placeholder: '+14155550123' }
  }
  return { type: 'text', autoComplete: 'off', name }
}
