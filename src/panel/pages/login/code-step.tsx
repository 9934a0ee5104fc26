/** The second step of signing in: the code, and another one when it does not come. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { signIn } from '../../api/session.ts'
import { latinDigits } from '../../i18n/digits.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { useSecondsLeft } from '../../ui/countdown.ts'
import { Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { useReason } from '../../ui/states.tsx'
import { forgetCode, type WaitedCode } from './sent-code.ts'

interface CodeStepProps {
  readonly sent: WaitedCode
  readonly resending: boolean
  readonly failure: unknown
  resend(): void
  back(): void
}

export function CodeStep({ sent, resending, failure, resend, back }: CodeStepProps) {
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
