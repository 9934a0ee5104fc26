/** /dashboard/link: the choice of a messenger and of a way to link, and the fields that it needs first. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { addressOf, call } from '../../api/call.ts'
import { platformsQuery } from '../../api/queries.ts'
import type { LinkField, LinkSession, Platform } from '../../api/types.ts'
import { latinDigits } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Toggle } from '../../ui/figure.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Failed, Loading, useFieldReason, Wrong } from '../../ui/states.tsx'
import { PersonPicker, SANDBOX } from './sandbox-person.tsx'

/** A field that asks for consent instead of a value. */
const CONSENT = 'delete_webhook'

interface StartFormProps {
  readonly platform: Platform
  /** The credential that is linked again. */
  readonly again?: number
}

interface Wish {
  readonly method: string
  readonly fields: readonly LinkField[]
  readonly values: Readonly<Record<string, string>>
  readonly again: number | undefined
}

function useStart(platform: string, { method, fields, values, again }: Wish) {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: () => {
      const given = fields
        .map(({ name }) => [name, values[name]?.trim() ?? ''] as const)
        .filter(([, value]) => value !== '')
      return call<LinkSession>('POST', `/platforms/${platform}/link/start`, {
        body: {
          method,
          ...Object.fromEntries(given),
          ...(again !== undefined && { credential_id: again }),
        },
      })
    },
    onSuccess: ({ session_id }) =>
      navigate(
        addressOf(`/dashboard/link/${platform}/${session_id}`, {
          again,
          phone: platform === SANDBOX ? values.phone : undefined,
        }),
        { replace: true },
      ),
  })
}

export function StartForm({ platform, again }: StartFormProps) {
  const t = useT()
  const fieldReason = useFieldReason()
  const [method, setMethod] = useState(platform.link[0]?.method ?? '')
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const fields = platform.link.find((one) => one.method === method)?.fields ?? []
  const isSandbox = platform.platform === SANDBOX
  const starting = useStart(platform.platform, { method, fields, values, again })
  const wrongIn = (name: string) => fieldReason(starting.error, name)
  const isShown = fields.some(({ name }) => wrongIn(name) !== undefined)
  return (
    <Form by={starting} className="card">
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
      {isSandbox && (
        <PersonPicker
          phone={values.phone ?? ''}
          onChoose={(phone) => setValues({ ...values, phone })}
        />
      )}
      {fields.map((field) => (
        <LinkInput
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          wrong={wrongIn(field.name)}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
        />
      ))}
      {!isShown && <Wrong cause={starting.error} />}
      <div className="actions">
        <Button type="submit" kind="first" busy={starting.isPending}>
          {t('linking.start')}
        </Button>
      </div>
    </Form>
  )
}

interface LinkInputProps {
  readonly field: LinkField
  readonly value: string
  readonly wrong: string | undefined
  onChange(value: string): void
}

function LinkInput({ field, value, wrong, onChange }: LinkInputProps) {
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

export function LinkPage() {
  const t = useT()
  /** A messenger without a message of the panel is shown by its own name. */
  const nameOf = (platform: string, own: string) => {
    const known = t.word('platform', platform)
    return known === platform ? own : known
  }
  const [query, setQuery] = useSearchParams()
  const platforms = useQuery(platformsQuery)
  const again = query.get('again')
  const chosen = platforms.data?.find(({ platform }) => platform === query.get('platform'))
  return (
    <Page title={t(again ? 'linking.again' : 'accounts.link')} lead={t('linking.lead')} narrow>
      {platforms.isError && !platforms.data ? (
        <Failed cause={platforms.error} retry={() => platforms.refetch()} />
      ) : !platforms.data ? (
        <Loading lines={4} />
      ) : (
        <>
          {!again && (
            <fieldset className="platforms">
              <legend className="label">{t('linking.platform')}</legend>
              {platforms.data.map(({ platform, name, available }) => (
                <label key={platform} className="platform">
                  <input
                    type="radio"
                    name="platform"
                    value={platform}
                    checked={chosen?.platform === platform}
                    disabled={!available}
                    onChange={() => setQuery({ platform }, { replace: true })}
                  />
                  <span className="grow">
                    <span className="label block">{nameOf(platform, name)}</span>
                    {!available && (
                      <span className="quiet small block">
                        {t('linking.unavailable', { platform: nameOf(platform, name) })}
                      </span>
                    )}
                  </span>
                </label>
              ))}
            </fieldset>
          )}
          {chosen?.available && (
            <StartForm
              key={chosen.platform}
              platform={chosen}
              {...(again && { again: Number(again) })}
            />
          )}
        </>
      )}
    </Page>
  )
}
