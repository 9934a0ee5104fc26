/** /dashboard/keys: the keys by which bots use accounts, and the form that creates one. */
import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { call } from '../../api/call.ts'
import { accountsQuery, credentialQuery, keysQuery } from '../../api/queries.ts'
import { type ApiKey, type Credential, handleOf, nameOf } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Records } from '../../ui/records.tsx'
import { Empty, Failed, Wrong } from '../../ui/states.tsx'
import { useChangeOfAddress } from '../../ui/use-in-address.ts'
import { keyForms, type Searching, Typed, useSearch } from '../explorer/search.tsx'
import { NewKey } from './new-key.tsx'
import { KeyRecord } from './records.tsx'
import { Addresses, addressesIn, expiryIn, lifetimeOptions, Scopes } from './terms.tsx'

function useAccounts(chosen: string) {
  const [search, setSearch] = useState('')
  const found = useQuery({ ...accountsQuery(search), placeholderData: keepPreviousData })
  const items = found.data?.items ?? []
  const isChosen = ({ credential_id }: Credential) => `${credential_id}` === chosen
  const isAmong = items.some(isChosen)
  const own = useQuery({
    ...credentialQuery(Number(chosen)),
    enabled: chosen !== '' && found.data !== undefined && !isAmong,
  })
  const options = own.data && !isAmong ? [own.data, ...items] : items
  const usual = items.find(({ state }) => state === 'active') ?? items[0]
  return {
    search,
    setSearch,
    options,
    /** Undefined while the list of accounts is loading. */
    account: options.find(isChosen) ?? (chosen === '' || own.isError ? usual : undefined),
    failure: found.data ? undefined : found.error,
    lookAgain: () => found.refetch(),
    hasNone: search === '' && found.data !== undefined && options.length === 0,
    isLong: search !== '' || (found.data?.next_before ?? null) !== null,
  }
}

interface CreateKeyProps {
  /** Chosen beforehand; empty when it is not. */
  readonly credentialId: string
  close(): void
}

export function CreateKey({ credentialId, close }: CreateKeyProps) {
  const t = useT()
  const [chosen, setChosen] = useState(credentialId)
  const accounts = useAccounts(chosen)
  const fields = useFields()
  const creating = useCreation()
  if (creating.data) {
    return (
      <Dialog title={t('keys.new')} open wide isFirm onClose={close}>
        <NewKey apiKey={creating.data} close={close} />
      </Dialog>
    )
  }
  return (
    <Dialog title={t('account.keys.create')} open isFirm={creating.isPending} onClose={close}>
      {accounts.failure ? (
        <Failed cause={accounts.failure} retry={accounts.lookAgain} />
      ) : accounts.hasNone ? (
        <Empty
          icon="link"
          title={t('keys.noAccount')}
          action={
            <ButtonLink to="/dashboard/link" kind="first">
              {t('accounts.link')}
            </ButtonLink>
          }
        />
      ) : (
        <KeyForm {...{ accounts, fields, creating, close }} choose={setChosen} />
      )}
    </Dialog>
  )
}

function useFields() {
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(['bot:send', 'bot:receive'])
  const [lifetime, setLifetime] = useState<string>('never')
  const [addresses, setAddresses] = useState('')
  return { name, setName, scopes, setScopes, lifetime, setLifetime, addresses, setAddresses }
}

interface WantedKey {
  readonly name: string
  readonly credential_id: number | undefined
  readonly scopes: readonly string[]
  readonly expires_at: string | null
  readonly allowed_ips: readonly string[]
}

function useCreation() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: WantedKey) => call<ApiKey & { key: string }>('POST', '/api_keys', { body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  })
}

interface KeyFormProps {
  readonly accounts: ReturnType<typeof useAccounts>
  readonly fields: ReturnType<typeof useFields>
  readonly creating: ReturnType<typeof useCreation>
  choose(credentialId: string): void
  close(): void
}

function KeyForm({ accounts, fields, creating, choose, close }: KeyFormProps) {
  const t = useT()
  const { name, setName, scopes, setScopes, lifetime, setLifetime } = fields
  const { addresses, setAddresses } = fields
  const make = () =>
    creating.mutate({
      name: name.trim(),
      credential_id: accounts.account?.credential_id,
      scopes,
      expires_at: expiryIn(lifetime),
      allowed_ips: addressesIn(addresses),
    })
  return (
    <Form by={{ isPending: creating.isPending, mutate: make }}>
      <Field
        label={t('keys.name')}
        hint={t('keys.name.hint')}
        required
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <AccountChoice accounts={accounts} onChange={choose} />
      <Scopes chosen={scopes} onChange={setScopes} />
      <Choice
        label={t('keys.lifetime')}
        value={lifetime}
        options={lifetimeOptions(t)}
        onChange={setLifetime}
      />
      <Addresses text={addresses} onChange={setAddresses} />
      <Wrong cause={creating.error} />
      <div className="actions">
        <Button disabled={creating.isPending} onClick={close}>
          {t('cancel')}
        </Button>
        <Button
          type="submit"
          kind="first"
          busy={creating.isPending}
          disabled={scopes.length === 0 || accounts.account === undefined}
        >
          {t('keys.make')}
        </Button>
      </div>
    </Form>
  )
}

interface AccountChoiceProps {
  readonly accounts: ReturnType<typeof useAccounts>
  onChange(credentialId: string): void
}

function AccountChoice({ accounts, onChange }: AccountChoiceProps) {
  const t = useT()
  const { account, isLong, options, search, setSearch } = accounts
  return (
    <>
      {isLong && (
        <Field
          label={t('keys.account.search')}
          type="search"
          autoComplete="off"
          maxLength={100}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      )}
      <Choice
        label={t('keys.account')}
        value={`${account?.credential_id ?? ''}`}
        options={options.map((one) => [
          `${one.credential_id}`,
          `\u2068${nameOf(one)}\u2069 (\u2066${handleOf(one)}\u2069)`,
        ])}
        onChange={onChange}
      />
    </>
  )
}

/** How often keys are read again: no event shows changes of their backlog and last use. */
const LOOK_MS = 15_000
/** Whoever has loaded more pages reads, and does not watch. */
const PAGES_WATCHED = 3

const shown = ['', 'webhook', 'backlog', 'revoked'] as const

/** Which keys are shown, and the search in their names. */
function KeyFilters(searching: Searching) {
  const t = useT()
  const { search, change } = searching
  return (
    <search className="row filters">
      <Typed {...searching} name="search" label={t('keys.search')} />
      <Choice
        label={t('keys.shown')}
        value={search.revoked === 'true' ? 'revoked' : (search.trouble ?? '')}
        options={shown.map((one) => [one, t(`keys.shown.${one || 'live'}`)] as const)}
        onChange={(one) =>
          change(
            one === 'revoked' ? { revoked: 'true', trouble: '' } : { revoked: '', trouble: one },
          )
        }
      />
    </search>
  )
}

/** No key is there, or none passes the filters. */
function NoKeys({ search, change }: Searching) {
  const t = useT()
  if (Object.keys(search).length === 0) {
    return (
      <Empty icon="key" title={t('keys.none')}>
        {t('keys.noneText')}
      </Empty>
    )
  }
  const clear = () => change({ search: '', trouble: '', revoked: '' })
  return (
    <Empty
      icon="search"
      title={t('keys.noneSuch')}
      action={<Button onClick={clear}>{t('search.clear')}</Button>}
    />
  )
}

export function KeysPage() {
  const t = useT()
  const searching = useSearch(keyForms)
  const [query] = useSearchParams()
  const changeAddress = useChangeOfAddress()
  const list = useInfiniteQuery({
    ...keysQuery({ revoked: 'false', ...searching.search }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      (data?.pages.length ?? 0) > PAGES_WATCHED ? false : LOOK_MS,
  })
  const creating = query.get('create')
  const setCreating = (credentialId: string | undefined) => changeAddress({ create: credentialId })
  return (
    <Page
      title={t('nav.keys')}
      lead={t('keys.lead')}
      actions={
        <Button kind="first" icon="plus" onClick={() => setCreating('')}>
          {t('account.keys.create')}
        </Button>
      }
    >
      <KeyFilters {...searching} />
      <div className="card">
        <Records
          log={list}
          none={<NoKeys {...searching} />}
          record={(key) => <KeyRecord key={key.api_key_id} apiKey={key} tellsAccount />}
        />
      </div>
      {creating !== null && (
        <CreateKey credentialId={creating} close={() => setCreating(undefined)} />
      )}
    </Page>
  )
}
