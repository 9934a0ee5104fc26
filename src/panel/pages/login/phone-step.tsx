/** The first step of signing in: which phone. */
import { useState } from 'react'
import { latinDigits } from '../../i18n/digits.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { useReason } from '../../ui/states.tsx'

export interface PhoneStepProps {
  readonly busy: boolean
  readonly failure: unknown
  send(phone: string): void
}

export function PhoneStep({ busy, failure, send }: PhoneStepProps) {
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
