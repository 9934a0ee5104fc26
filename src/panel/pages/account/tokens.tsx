/** Personal access tokens: what there is, and the buttons to make and to revoke them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { tokensQuery } from '../../api/account.ts'
import { call } from '../../api/call.ts'
import type { Token } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Failed, Loading, useReason } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { NewTokenDialog } from './new-token.tsx'

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
