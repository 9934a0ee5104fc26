/** Personal access tokens: the list, and the dialogs that create a token, show it once, and revoke it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import { tokensQuery, userQuery } from '../../api/queries.ts'
import type { IssuedToken, Token } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Copied } from '../../ui/copy.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Checks, Choice, Field, Form } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Failed, Loading, Notice, useReason, Wrong } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { Addresses, addressesIn } from '../keys/terms.tsx'

const lifetimes = [7, 30, 90, 366]
const scopes = ['read', 'link', 'keys', 'send', 'operate'] as const

/** What is for the staff is of use to nobody else. */
function useOffered() {
  const isStaff = useQuery(userQuery).data?.role !== undefined
  return scopes.filter((scope) => scope !== 'operate' || isStaff)
}

/** Creates a personal access token and shows it once. */
function NewTokenDialog({ onClose }: { onClose(): void }) {
  const t = useT()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const [days, setDays] = useState('90')
  const [chosen, setChosen] = useState<readonly string[]>(['read'])
  const [addresses, setAddresses] = useState('')
  const offered = useOffered()
  const making = useMutation({
    mutationFn: () =>
      call<IssuedToken>('POST', '/user/tokens', {
        body: {
          name,
          expires_in_days: Number(days),
          scopes: chosen,
          allowed_ips: addressesIn(addresses),
        },
      }),
    onSuccess: () => queries.invalidateQueries(tokensQuery),
  })
  if (making.data) return <Shown token={making.data.token} onClose={onClose} />
  return (
    <Dialog title={t('tokens.make')} open isFirm={making.isPending} onClose={onClose}>
      <Form by={making} isReady={chosen.length > 0}>
        <Field
          label={t('tokens.name')}
          hint={t('tokens.nameHint')}
          required
          maxLength={100}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Choice
          label={t('tokens.lifetime')}
          value={days}
          options={lifetimes.map((count) => [`${count}`, t.count('tokens.days', count)])}
          onChange={setDays}
        />
        <Checks
          label={t('tokens.scopes')}
          options={offered.map((scope) => [scope, t(`tokens.scope.${scope}`)])}
          chosen={chosen}
          onChange={setChosen}
        />
        <Addresses text={addresses} onChange={setAddresses} />
        <Wrong cause={making.error} />
        <div className="actions">
          <Button disabled={making.isPending} onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button type="submit" kind="first" busy={making.isPending}>
            {t('tokens.make')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

function Shown({ token, onClose }: { readonly token: string; onClose(): void }) {
  const t = useT()
  return (
    <Dialog title={t('tokens.made')} open isFirm onClose={onClose}>
      <Notice tone="warn">{t('tokens.once')}</Notice>
      <Copied text={token} wrap />
      <p className="quiet small">{t('tokens.how')}</p>
      <Copied text={`Authorization: apikey ${token}`} wrap />
      <div className="actions">
        <Button kind="first" onClick={onClose}>
          {t('tokens.kept')}
        </Button>
      </div>
    </Dialog>
  )
}

export function Tokens() {
  const t = useT()
  const list = useQuery(tokensQuery)
  const [isMaking, setMaking] = useState(false)
  const [leaving, setLeaving] = useState<Token>()
  const tokens = list.data?.items ?? []
  return (
    <Card
      title={t('tokens.title')}
      aside={
        <Button size="slim" icon="plus" onClick={() => setMaking(true)}>
          {t('tokens.make')}
        </Button>
      }
    >
      <p className="quiet small">{t('tokens.lead')}</p>
      {list.isError && !list.data ? (
        <Failed cause={list.error} retry={() => list.refetch()} />
      ) : !list.data ? (
        <Loading />
      ) : tokens.length === 0 ? (
        <Empty icon="key" title={t('tokens.none')}>
          {t('tokens.noneText')}
        </Empty>
      ) : (
        <ul className="records">
          {tokens.map((token) => (
            <TokenRow key={token.token_id} token={token} revoke={() => setLeaving(token)} />
          ))}
        </ul>
      )}
      {isMaking && <NewTokenDialog onClose={() => setMaking(false)} />}
      {leaving && <Revocation token={leaving} onClose={() => setLeaving(undefined)} />}
    </Card>
  )
}

function TokenRow({ token, revoke }: { readonly token: Token; revoke(): void }) {
  const t = useT()
  const { day } = useFormats()
  const isOver = Date.parse(token.expires_at) <= Date.now()
  return (
    <li className="record">
      <span className="grow">
        <span className="row">
          <span className="label">{token.name}</span>
          <span className="mono quiet">…{token.token_hint}</span>
          {isOver && <Badge tone="idle">{t('tokens.expired')}</Badge>}
        </span>
        <span className="quiet small block">
          {t('tokens.until', { day: day(token.expires_at) })} · {t('tokens.used')}{' '}
          {token.last_used_at ? <Ago at={token.last_used_at} /> : t('never')}
        </span>
        <span className="quiet small block" dir="ltr">
          {[...token.scopes, ...token.allowed_ips].join(' · ')}
        </span>
      </span>
      <Button
        size="slim"
        kind="danger"
        aria-label={t('tokens.revokeOne', { name: token.name })}
        onClick={revoke}
      >
        {t('tokens.revoke')}
      </Button>
    </li>
  )
}

function Revocation({ token, onClose }: { readonly token: Token; onClose(): void }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const revoking = useMutation({
    mutationFn: () => call('DELETE', `/user/tokens/${token.token_id}`),
    async onSuccess() {
      toast(t('tokens.revoked'))
      await queries.invalidateQueries(tokensQuery)
      onClose()
    },
  })
  return (
    <Confirm
      title={t('tokens.revokeOne', { name: token.name })}
      action={t('tokens.revoke')}
      open
      busy={revoking.isPending}
      wrong={revoking.error ? reason(revoking.error) : undefined}
      onConfirm={() => revoking.mutate()}
      onClose={onClose}
    >
      {t('tokens.revokeText')}
    </Confirm>
  )
}
