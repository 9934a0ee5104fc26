/** The filters of the log of deliveries, kept in the address: how attempts ended, when, and what the updates contain. */
import { useEffect, useState } from 'react'
import { useSearchParams } from 'react-router'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Choice, Field } from '../../ui/form.tsx'

const statuses = ['2xx', '3xx', '4xx', '5xx', 'none'] as const

/** The parameters of the list that stand in the address under the same names. */
const NAMES = ['outcome', 'status', 'kind', 'chat_id', 'text', 'since', 'until'] as const
type Name = (typeof NAMES)[number]

export type DeliverySearch = Readonly<Partial<Record<Name, string>>>

/** What a user may have typed into the address counts only if the service takes it. */
const forms: Readonly<Record<Name, RegExp>> = {
  outcome: /^(delivered|failed)$/,
  status: /^([2-5]xx|none)$/,
  kind: /^\w{1,64}$/,
  chat_id: /^-?\d{1,15}$/,
  text: /^.{1,200}$/,
  since: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  until: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
}

export function useDeliverySearch() {
  const [query, setQuery] = useSearchParams()
  const search: Partial<Record<Name, string>> = {}
  for (const name of NAMES) {
    const value = query.get(name) ?? ''
    if (forms[name].test(value)) search[name] = value
  }
  const change = (changes: DeliverySearch) =>
    setQuery(
      (before) => {
        const next = new URLSearchParams(before)
        for (const [name, value] of Object.entries(changes)) {
          if (value) next.set(name, value)
          else next.delete(name)
        }
        return next
      },
      { replace: true },
    )
  return { search: search as DeliverySearch, change }
}

interface FiltersProps {
  readonly search: DeliverySearch
  change(changes: DeliverySearch): void
}

/** Letters are asked for together once the typing rests. */
const TYPING_MS = 300

export function DeliveryFilters({ search, change }: FiltersProps) {
  const t = useT()
  const isSearched = Object.keys(search).length > 0
  const [isOpen, setOpen] = useState(isSearched)
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="small">{t('search.title')}</summary>
      <search className="filters">
        <Typed name="text" label={t('search.text')} search={search} change={change} />
        <Choice
          label={t('search.status')}
          value={search.status ?? ''}
          options={[
            ['', t('deliveries.all')],
            ...statuses.map((one) => [one, t(`search.status.${one}`)] as const),
          ]}
          onChange={(status) => change({ status })}
        />
        <Typed name="kind" label={t('search.kind')} search={search} change={change} />
        <Typed name="chat_id" label={t('search.chat')} search={search} change={change} />
        <Time name="since" label={t('resend.first')} search={search} change={change} />
        <Time name="until" label={t('resend.last')} search={search} change={change} />
        {isSearched && (
          <Button
            icon="cross"
            size="slim"
            onClick={() => change(Object.fromEntries(NAMES.map((name) => [name, ''])))}
          >
            {t('search.clear')}
          </Button>
        )}
      </search>
    </details>
  )
}

interface InputProps extends FiltersProps {
  readonly name: Name
  readonly label: string
}

/** What does not have the form that the service takes is not searched, and marked. */
function Typed({ name, label, search, change }: InputProps) {
  const t = useT()
  const given = search[name] ?? ''
  const [typed, setTyped] = useState(given)
  const isWrong = typed !== '' && !forms[name].test(typed)
  useEffect(() => setTyped(given), [given])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the wait; `change` is new with each address.
  useEffect(() => {
    if (typed === given || isWrong) return
    const timer = setTimeout(() => change({ [name]: typed }), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <Field
      label={label}
      type="search"
      dir="auto"
      value={typed}
      wrong={isWrong ? t('search.wrong') : undefined}
      onChange={(event) => setTyped(event.target.value)}
    />
  )
}

/** A time as the input has it: local, without a zone. */
function localOf(iso: string | undefined): string {
  if (!iso) return ''
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function Time({ name, label, search, change }: InputProps) {
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
