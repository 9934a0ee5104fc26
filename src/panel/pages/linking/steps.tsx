/** What a link flow wants now, or how it ended; the same for the user and for whoever was invited. */

import { useMutation } from '@tanstack/react-query'
import { useMemo } from 'react'
import { encode } from 'uqr'
import { nameOf } from '../../api/names.ts'
import type { LinkSession } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { useSecondsLeft } from '../../ui/countdown.ts'
import { Card } from '../../ui/page.tsx'
import { Empty, Notice, Wrong } from '../../ui/states.tsx'
import { AnswerForm } from './answer-form.tsx'

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
}

export function LinkSteps({ session, keep, lookAgain, verify, resend }: LinkStepsProps) {
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
      return <Shown show={session.show} />
    case 'linked':
      return (
        <Card title={t('linking.linked.title')}>
          <Empty icon="check" title={session.credential ? nameOf(session.credential) : ''}>
            {t('linking.linked.text')}
          </Empty>
        </Card>
      )
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

/** What the other device scans or is given. */
function Shown({ show }: { readonly show: LinkSession['show'] | undefined }) {
  const t = useT()
  return (
    <Card title={t('linking.show.title')}>
      <p className="quiet">{t(show?.form === 'qr' ? 'linking.show.qr' : 'linking.show.pairing')}</p>
      {show?.form === 'qr' ? (
        <QrCode value={show.value} label={t('linking.show.qr')} />
      ) : (
        <p className="pairing mono">{show?.value}</p>
      )}
    </Card>
  )
}
