/** A new key: what it is for and what it may; then the key itself, shown this once. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { handleOf, nameOf } from '../../api/names.ts'
import type { ApiKey, Credential, Page } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, Field } from '../../ui/field.tsx'
import { Empty, useReason } from '../../ui/states.tsx'
import { NewKey } from './new-key.tsx'
import { Scopes } from './scopes.tsx'

const lifetimes = ['never', '30', '90', '365'] as const
const DAY_MS = 86_400_000

export interface CreateKeyProps {
  /** Chosen beforehand; empty when it is not. */
  readonly credentialId: string
  close(): void
}

export function CreateKey({ credentialId, close }: CreateKeyProps) {
  const t = useT()
  const reason = useReason()
  const queries = useQueryClient()
  const accounts = useQuery({
    queryKey: ['credentials', 'to-choose'],
    queryFn: ({ signal }) =>
      call<Page<Credential>>('GET', '/platforms/credentials', { query: { limit: 500 }, signal }),
  })
  const [chosen, setChosen] = useState(credentialId)
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly string[]>(['bot:send', 'bot:receive'])
  const [lifetime, setLifetime] = useState<string>('never')
  const items = accounts.data?.items ?? []
  const usual = items.find(({ state }) => state === 'active') ?? items[0]
  const account = chosen || `${usual?.credential_id ?? ''}`
  const creating = useMutation({
    mutationFn: () =>
      call<ApiKey & { key: string }>('POST', '/api_keys', {
        body: {
          name: name.trim(),
          credential_id: Number(account),
          scopes,
          ...(lifetime !== 'never' && {
            expires_at: new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString(),
          }),
        },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  })

  if (creating.data) {
    return (
      <Dialog title={t('keys.new')} open wide isFirm onClose={close}>
        <NewKey apiKey={creating.data} close={close} />
      </Dialog>
    )
  }
  return (
    <Dialog title={t('account.keys.create')} open onClose={close}>
      {accounts.data && items.length === 0 ? (
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
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault()
            if (!creating.isPending) creating.mutate()
          }}
        >
          <Field
            label={t('keys.name')}
            hint={t('keys.name.hint')}
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <Choice
            label={t('keys.account')}
            value={account}
            options={items.map((one) => [
              `${one.credential_id}`,
              `${nameOf(one)} (${handleOf(one)})`,
            ])}
            onChange={setChosen}
          />
          <Scopes chosen={scopes} onChange={setScopes} />
          <Choice
            label={t('keys.lifetime')}
            value={lifetime}
            options={lifetimes.map((days) => [
              days,
              days === 'never'
                ? t('keys.lifetime.never')
                : t('keys.lifetime.days', { days: Number(days) }),
            ])}
            onChange={setLifetime}
          />
          {creating.error && (
            <p className="wrong" role="alert">
              {reason(creating.error)}
            </p>
          )}
          <div className="actions">
            <Button onClick={close}>{t('cancel')}</Button>
            <Button
              type="submit"
              kind="first"
              busy={creating.isPending}
              disabled={scopes.length === 0 || account === ''}
            >
              {t('keys.make')}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
