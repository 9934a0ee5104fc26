/** The fields of a way to link, and the start of the flow. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import { ApiFailure } from '../../api/failure.ts'
import type { LinkField, LinkSession, Platform } from '../../api/types.ts'
import { latinDigits } from '../../i18n/digits.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice, Field } from '../../ui/field.tsx'
import { useReason } from '../../ui/states.tsx'

export interface StartFormProps {
  readonly platform: Platform
  /** The credential that is linked again. */
  readonly again?: number
}

export function StartForm({ platform, again }: StartFormProps) {
  const t = useT()
  const reason = useReason()
  const navigate = useNavigate()
  const [method, setMethod] = useState(platform.link[0]?.method ?? '')
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const fields = platform.link.find((one) => one.method === method)?.fields ?? []
  const starting = useMutation({
    mutationFn: () => {
      const given = fields
        .map(({ name }) => [name, values[name]?.trim() ?? ''] as const)
        .filter(([, value]) => value !== '')
      return call<LinkSession>('POST', `/platforms/${platform.platform}/link/start`, {
        body: {
          method,
          ...Object.fromEntries(given),
          ...(again !== undefined && { credential_id: again }),
        },
      })
    },
    onSuccess: ({ session_id }) =>
      navigate(`/dashboard/link/${platform.platform}/${session_id}`, { replace: true }),
  })
  const wrong = starting.error instanceof ApiFailure ? starting.error.fields : []
  const isShown = wrong.some(({ field }) => fields.some(({ name }) => name === field))
  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault()
        if (!starting.isPending) starting.mutate()
      }}
    >
      {platform.link.length > 1 && (
        <Choice
          label={t('linking.method')}
          value={method}
          options={platform.link.map(
            (one) => [one.method, t.word('linking.by', one.method)] as const,
          )}
          onChange={setMethod}
        />
      )}
      {fields.map((field) => (
        <Field
          key={field.name}
          label={labelOf(field, t)}
          {...inputOf(field)}
          required={field.required}
          className="ltr"
          value={values[field.name] ?? ''}
          wrong={wrong.find((one) => one.field === field.name)?.reason}
          onChange={({ target: { value } }) =>
            setValues({
              ...values,
              [field.name]: field.name === 'phone' ? latinDigits(value) : value,
            })
          }
        />
      ))}
      {starting.error && !isShown && (
        <p className="wrong" role="alert">
          {reason(starting.error)}
        </p>
      )}
      <div className="actions">
        <Button type="submit" kind="first" busy={starting.isPending}>
          {t('linking.start')}
        </Button>
      </div>
    </form>
  )
}

/** The panel's own word for a field that every network has, else the network's. */
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
