/** The filters of the logs of deliveries, requests and changes, kept in the address. */
import { type ReactNode, useState } from 'react'
import { useSearchParams } from 'react-router'
import { UPDATE_KINDS } from '../../../../machines/model/update-kinds.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice, Field } from '../../ui/form.tsx'
import { useChangeOfAddress, useTypedInAddress, withoutEmpty } from '../../ui/use-in-address.ts'

/** The forms of the values by the names of parameters: what the service would refuse is not asked. */
type Forms = Readonly<Record<string, RegExp>>
type Search = Readonly<Record<string, string>>

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
const ID = /^[\w.:-]{1,100}$/

export const deliveryForms: Forms = {
  outcome: /^(delivered|failed)$/,
  status: /^([2-5]xx|none)$/,
  kind: /^\w{1,64}$/,
  chat_id: /^-?\d{1,15}$/,
  text: /^.{1,200}$/,
  trace_id: ID,
  since: TIME,
  until: TIME,
}

export const requestForms: Forms = {
  status: /^[245]xx$/,
  error_code: /^[1-5]\d\d$/,
  method: /^.{1,100}$/,
  request_id: ID,
  chat_id: /^-?\d{1,15}$/,
  text: /^.{1,200}$/,
  since: TIME,
  until: TIME,
}

export const changeForms: Forms = {
  action: /^[a-z_]{1,40}(\.[a-z_]{1,40})?$/,
  target_id: /^[\w.:-]{1,64}$/,
  since: TIME,
  until: TIME,
}

export const keyForms: Forms = {
  search: /^.{1,100}$/,
  trouble: /^(webhook|backlog)$/,
  revoked: /^(true|false)$/,
}

export interface Searching {
  readonly forms: Forms
  readonly search: Search
  /** Empty values are taken out. */
  change(changes: Search): void
}

export function useSearch(forms: Forms): Searching {
  const [query] = useSearchParams()
  const changeAddress = useChangeOfAddress()
  const search: Record<string, string> = {}
  for (const [name, form] of Object.entries(forms)) {
    const value = query.get(name) ?? ''
    if (form.test(value)) search[name] = value
  }
  const change = (changes: Search) => changeAddress(withoutEmpty(changes), { replace: true })
  return { forms, search, change }
}

const statuses = ['2xx', '3xx', '4xx', '5xx', 'none'] as const

export function DeliveryFilters(searching: Searching) {
  const t = useT()
  return (
    <Filters {...searching}>
      <Typed {...searching} name="text" label={t('search.text')} />
      <Status {...searching} />
      <Kind {...searching} />
      <Typed {...searching} name="chat_id" label={t('search.chat')} />
      <Typed {...searching} name="trace_id" label={t('search.trace')} />
      <Time {...searching} name="since" label={t('resend.first')} />
      <Time {...searching} name="until" label={t('resend.last')} />
    </Filters>
  )
}

export function RequestFilters(searching: Searching) {
  const t = useT()
  return (
    <Filters {...searching}>
      <Typed {...searching} name="method" label={t('search.method')} />
      <Status {...searching} />
      <Typed {...searching} name="request_id" label={t('requests.id')} />
      <Typed {...searching} name="text" label={t('search.calls.text')} />
      <Typed {...searching} name="chat_id" label={t('search.chat')} />
      <Time {...searching} name="since" label={t('resend.first')} />
      <Time {...searching} name="until" label={t('resend.last')} />
    </Filters>
  )
}

export function Filters({
  forms,
  search,
  change,
  children,
}: Searching & { readonly children: ReactNode }) {
  const t = useT()
  const isSearched = Object.keys(search).length > 0
  const [isOpen, setOpen] = useState(isSearched)
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="small">{t('search.title')}</summary>
      <search className="filters">
        {children}
        {isSearched && (
          <Button
            icon="cross"
            size="slim"
            onClick={() => change(Object.fromEntries(Object.keys(forms).map((name) => [name, ''])))}
          >
            {t('search.clear')}
          </Button>
        )}
      </search>
    </details>
  )
}

/** The kinds of updates by their names in the bot API; a network may have more, which an address can name. */
function Kind({ search: { kind = '' }, change }: Searching) {
  const t = useT()
  const all: readonly string[] = UPDATE_KINDS
  const known = kind === '' || all.includes(kind) ? all : [kind, ...all]
  return (
    <Choice
      label={t('search.kind')}
      value={kind}
      options={[['', t('deliveries.all')], ...known.map((one) => [one, one] as const)]}
      onChange={(next) => change({ kind: next })}
    />
  )
}

function Status({ forms, search, change }: Searching) {
  const t = useT()
  const shown = statuses.filter((one) => forms.status?.test(one))
  return (
    <Choice
      label={t('search.status')}
      value={search.status ?? ''}
      options={[
        ['', t('deliveries.all')],
        ...shown.map((one) => [one, t(`search.status.${one}`)] as const),
      ]}
      onChange={(status) => change({ status })}
    />
  )
}

interface InputProps extends Searching {
  readonly name: string
  readonly label: string
}

/** A value in a wrong form is marked, and not searched. */
export function Typed({
  forms,
  name,
  label,
}: Pick<Searching, 'forms'> & Pick<InputProps, 'name' | 'label'>) {
  const t = useT()
  const isGood = (text: string) => forms[name]?.test(text) ?? false
  const [typed, type] = useTypedInAddress(name, isGood)
  const isWrong = typed !== '' && !isGood(typed)
  return (
    <Field
      label={label}
      type="search"
      dir="auto"
      value={typed}
      wrong={isWrong ? t('search.wrong') : undefined}
      onChange={(event) => type(event.target.value)}
    />
  )
}

/** A time as the input has it: local, without a zone. An address may hold any text. */
function localOf(iso: string | undefined): string {
  const at = new Date(iso ?? '')
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

export function Time({ name, label, search, change }: InputProps) {
  return (
    <Field
      label={label}
      type="datetime-local"
      className="ltr"
      value={localOf(search[name])}
      onChange={({ target: { value } }) =>
        change({ [name]: value && new Date(value).toISOString() })
      }
    />
  )
}
