/** One answer of a link flow: the code or the password, with how many tries are left. */
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { ApiFailure } from '../../api/failure.ts'
import type { LinkSession } from '../../api/types.ts'
import { latinDigits } from '../../i18n/digits.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { useReason } from '../../ui/states.tsx'

interface AnswerFormProps {
  readonly kind: 'code' | 'password'
  readonly session: LinkSession
  keep(session: LinkSession): void
  lookAgain(): void
  answer(text: string): Promise<LinkSession>
}

const ALL_TRIES = 5

/** What nobody has judged may be right: it stays, to be sent once more. */
const isRefused = (cause: unknown) =>
  cause instanceof ApiFailure && cause.status >= 400 && cause.status < 500 && cause.status !== 429

export function AnswerForm({ kind, session, keep, lookAgain, answer }: AnswerFormProps) {
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
