/** Another code, once the network allows it. */
import { useMutation } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { LinkSession } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { useSecondsLeft } from '../../ui/countdown.ts'
import { useReason } from '../../ui/states.tsx'

export interface ResendProps {
  readonly session: LinkSession
  keep(session: LinkSession): void
  resend(): Promise<LinkSession>
}

export function Resend({ session, keep, resend }: ResendProps) {
  const t = useT()
  const reason = useReason()
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
      {sending.error && (
        <p className="wrong" role="alert">
          {reason(sending.error)}
        </p>
      )}
    </div>
  )
}
