/** The command palette: pages, actions, accounts and keys, found by a few letters and opened without the mouse. */
import { Autocomplete } from '@base-ui/react/autocomplete'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { useNavigate } from 'react-router'
import { accountsQuery, foundKeysQuery, userQuery } from '../api/queries.ts'
import { handleOf, nameOf } from '../api/types.ts'
import type { MessageKey } from '../i18n/en.ts'
import { latinDigits } from '../i18n/formats.ts'
import { useT } from '../i18n/language.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'

interface Entry {
  readonly value: string
  readonly label: string
  /** Said beside the label, and searched as well. */
  readonly note: string
  readonly icon: IconName
}

interface Section {
  readonly value: string
  readonly items: readonly Entry[]
}

const pages: readonly (readonly [to: string, icon: IconName, title: MessageKey])[] = [
  ['/dashboard', 'home', 'nav.dashboard'],
  ['/dashboard/accounts', 'accounts', 'nav.accounts'],
  ['/dashboard/accounts?action=needed', 'warning', 'palette.needing'],
  ['/dashboard/keys', 'key', 'nav.keys'],
  ['/dashboard/alerts', 'bell', 'nav.alerts'],
  ['/dashboard/sandbox', 'flask', 'nav.sandbox'],
  ['/dashboard/account', 'sliders', 'nav.account'],
]
const ofOperators: typeof pages = [['/dashboard/nodes', 'nodes', 'nav.nodes']]
const actions: readonly (readonly [to: string, icon: IconName, title: MessageKey])[] = [
  ['/dashboard/link', 'link', 'accounts.link'],
  ['/dashboard/keys?create', 'plus', 'account.keys.create'],
  ['/dashboard/demo', 'flask', 'palette.demo'],
]

const SHOWN = 6
/** Letters without their accents, and digits of every script as Latin ones. */
const folded = (text: string): string =>
  latinDigits(text.normalize('NFKD').replace(/\p{M}/gu, '')).toLocaleLowerCase()

const isAbout = ({ label, note }: Entry, text: string): boolean => {
  const words = folded(`${label} ${note}`)
  return folded(text)
    .split(/\s+/)
    .every((word) => words.includes(word))
}

/** Pages and actions, at once, so that Enter opens what was typed; and the accounts and the keys that the service finds. */
function useFound(text: string): readonly Section[] {
  const t = useT()
  const asked = useDeferredValue(text)
  const isAsked = asked !== ''
  const accounts = useQuery({
    ...accountsQuery(asked),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  })
  const keys = useQuery({
    ...foundKeysQuery(asked, SHOWN),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  })
  const isOperator = useQuery(userQuery).data?.operator === true
  const own = (list: readonly (readonly [string, IconName, MessageKey])[]) =>
    list
      .map(([to, icon, title]): Entry => ({ value: to, label: t(title), note: '', icon }))
      .filter((one) => isAbout(one, text))
  /** What was found for other letters stays only if it fits these: Enter opens the first entry. */
  const fits = (one: Entry) => isAbout(one, text)
  const foundAccounts = (accounts.data?.items ?? []).map(
    (one): Entry => ({
      value: `/dashboard/accounts/${one.credential_id}`,
      label: nameOf(one),
      note: handleOf(one),
      icon: 'accounts',
    }),
  )
  const foundKeys = (keys.data?.items ?? []).map(
    ({ api_key_id, name, key_hint }): Entry => ({
      value: `/dashboard/keys/${api_key_id}`,
      label: name,
      note: key_hint,
      icon: 'key',
    }),
  )
  const isOld = asked !== text
  const ofAccounts =
    isOld || accounts.isPlaceholderData ? foundAccounts.filter(fits) : foundAccounts
  const ofKeys = isOld || keys.isPlaceholderData ? foundKeys.filter(fits) : foundKeys
  return [
    { value: t('nav'), items: own(isOperator ? [...pages, ...ofOperators] : pages) },
    { value: t('palette.actions'), items: own(actions) },
    { value: t('nav.accounts'), items: isAsked ? ofAccounts.slice(0, SHOWN) : [] },
    { value: t('nav.keys'), items: isAsked ? ofKeys : [] },
  ].filter(({ items }) => items.length > 0)
}

interface FoundProps {
  readonly title: string
  choose(to: string): void
}

function Found({ title, choose }: FoundProps) {
  return (
    <Autocomplete.List className="palette" aria-label={title}>
      {({ value, items }: Section) => (
        <Autocomplete.Group key={value} items={items}>
          <Autocomplete.GroupLabel className="quiet small">{value}</Autocomplete.GroupLabel>
          <Autocomplete.Collection>
            {(entry: Entry) => (
              <Autocomplete.Item
                key={entry.value}
                value={entry}
                className="record"
                onClick={() => choose(entry.value)}
              >
                <Icon name={entry.icon} />
                <span className="grow clip" dir="auto">
                  {entry.label}
                </span>
                <span className="quiet small ltr">{entry.note}</span>
              </Autocomplete.Item>
            )}
          </Autocomplete.Collection>
        </Autocomplete.Group>
      )}
    </Autocomplete.List>
  )
}

export function Palette({ close }: { close(): void }) {
  const t = useT()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const sections = useFound(text.trim())
  const choose = (to: string) => {
    close()
    navigate(to)
  }
  return (
    <Dialog title={t('palette.title')} open onClose={close}>
      <Autocomplete.Root
        open
        inline
        mode="none"
        items={sections}
        value={text}
        autoHighlight="always"
        keepHighlight
        onValueChange={setText}
        itemToStringValue={(entry: Entry) => entry.label}
      >
        <Autocomplete.Input
          className="input"
          placeholder={t('palette.hint')}
          aria-label={t('palette.title')}
        />
        <Autocomplete.Empty>
          <span className="quiet small">{t('palette.nothing')}</span>
        </Autocomplete.Empty>
        <Found title={t('palette.title')} choose={choose} />
      </Autocomplete.Root>
    </Dialog>
  )
}

const shortcuts: readonly (readonly [keys: readonly string[], title: MessageKey])[] = [
  [['Ctrl', 'K'], 'palette.title'],
  [['/'], 'palette.search'],
  [['g', 'd'], 'nav.dashboard'],
  [['g', 'a'], 'nav.accounts'],
  [['g', 'k'], 'nav.keys'],
  [['g', 'i'], 'nav.alerts'],
  [['g', 'n'], 'nav.nodes'],
  [['g', 's'], 'nav.sandbox'],
  [['g', 'l'], 'accounts.link'],
  [['?'], 'palette.shortcuts'],
]

/** The list of the keyboard shortcuts. */
export function Shortcuts({ close }: { close(): void }) {
  const t = useT()
  return (
    <Dialog title={t('palette.shortcuts')} open onClose={close}>
      <dl className="shortcuts">
        {shortcuts.map(([keys, title]) => (
          <div key={title} className="record">
            <dt className="grow">{t(title)}</dt>
            <dd className="ltr">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
