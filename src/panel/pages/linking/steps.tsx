/** What a link flow wants now, or how it ended; the same for the user and for whoever was invited. */

import { nameOf } from '../../api/names.ts'
import type { LinkSession } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Notice } from '../../ui/states.tsx'
import { AnswerForm } from './answer-form.tsx'
import { QrCode } from './qr-code.tsx'
import { Resend } from './resend.tsx'

export type LinkAnswer = { readonly otp: string } | { readonly password: string }

export interface LinkStepsProps {
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
              ? t('linking.code.sentVia', { way: t.known('said', session.sent_via) })
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
      return (
        <Card title={t('linking.show.title')}>
          <p className="quiet">
            {t(session.show?.form === 'qr' ? 'linking.show.qr' : 'linking.show.pairing')}
          </p>
          {session.show?.form === 'qr' ? (
            <QrCode value={session.show.value} label={t('linking.show.qr')} />
          ) : (
            <p className="pairing mono">{session.show?.value}</p>
          )}
        </Card>
      )
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
