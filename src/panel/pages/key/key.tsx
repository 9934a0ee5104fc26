/** /dashboard/keys/:id: one key with its webhook, its requests and its usage. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams, useSearchParams } from 'react-router'
import { keyStanding } from '../../../../machines/api-key/events.ts'
import { call } from '../../api/call.ts'
import { isGone } from '../../api/failure.ts'
import { keyQuery } from '../../api/queries.ts'
import type { ApiKey } from '../../api/types.ts'
import { Hint } from '../../help/hint.tsx'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Failed, Loading, Notice, useReason, Wrong } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Ago } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { NewKey } from '../keys/new-key.tsx'
import { isTroubled, ReceivingBadge, standingTones } from '../keys/records.tsx'
import { Addresses, addressesIn, expiryIn, lifetimeOptions, Scopes } from '../keys/terms.tsx'
import { Deliveries } from './deliveries.tsx'
import { Overview } from './overview.tsx'
import { Requests } from './requests.tsx'
import { KeyUsage } from './usage.tsx'
import { WebhookTab } from './webhook.tsx'

const overlaps = ['0', '3600', '86400'] as const

/** Rotates a key. The old secret may stay valid for a while, so that bots can be changed without a gap. */
export function Rotate({ apiKey, close }: { readonly apiKey: ApiKey; close(): void }) {
  const t = useT()
  const queries = useQueryClient()
  const [overlap, setOverlap] = useState<string>('3600')
  const rotating = useMutation({
    mutationFn: () =>
      call<ApiKey & { key: string }>('POST', `/api_keys/${apiKey.api_key_id}/rotate`, {
        body: { overlap_seconds: Number(overlap) },
      }),
    onSuccess() {
      queries.invalidateQueries({ queryKey: ['key', apiKey.api_key_id] })
      queries.invalidateQueries({ queryKey: ['keys'] })
    },
  })
  if (rotating.data) {
    return (
      <Dialog title={t('keys.new')} open wide isFirm onClose={close}>
        <NewKey apiKey={rotating.data} close={close} />
      </Dialog>
    )
  }
  return (
    <Dialog title={t('keys.rotate.title')} open isFirm={rotating.isPending} onClose={close}>
      <p className="quiet">
        {t('keys.rotate.text')} <Hint about="overlap" />
      </p>
      <Choice
        label={t('keys.rotate.overlap')}
        value={overlap}
        options={overlaps.map((seconds) => [seconds, t(`keys.rotate.overlap.${seconds}`)])}
        onChange={setOverlap}
      />
      <Wrong cause={rotating.error} />
      <div className="actions">
        <Button disabled={rotating.isPending} onClick={close}>
          {t('cancel')}
        </Button>
        <Button kind="first" busy={rotating.isPending} onClick={() => rotating.mutate()}>
          {t('keys.rotate')}
        </Button>
      </div>
    </Dialog>
  )
}

/** The actions on a key: diagnose, change, rotate, revoke. */
export function KeyActions({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const [asking, setAsking] = useState<'change' | 'rotate' | 'revoke'>()
  const path = `/api_keys/${apiKey.api_key_id}`
  const revoking = useMutation({
    mutationFn: () => call('DELETE', path),
    onSuccess() {
      toast(t('keys.revoke.done'))
      setAsking(undefined)
      queries.invalidateQueries({ queryKey: ['key', apiKey.api_key_id] })
      queries.invalidateQueries({ queryKey: ['keys'] })
    },
  })
  const isUsable = apiKey.revoked_at === null
  return (
    <>
      <ButtonLink to={`/dashboard/keys/${apiKey.api_key_id}/diagnosis`} icon="stethoscope">
        {t('keys.diagnose')}
      </ButtonLink>
      {isUsable && (
        <>
          <ButtonLink to={`/dashboard/keys/${apiKey.api_key_id}/try`} icon="send">
            {t('try.title')}
          </ButtonLink>
          <Button icon="edit" onClick={() => setAsking('change')}>
            {t('keys.change')}
          </Button>
          <Button icon="restart" onClick={() => setAsking('rotate')}>
            {t('keys.rotate')}
          </Button>
          <Button kind="danger" icon="trash" onClick={() => setAsking('revoke')}>
            {t('keys.revoke')}
          </Button>
        </>
      )}
      {asking === 'change' && <ChangeKey apiKey={apiKey} close={() => setAsking(undefined)} />}
      {asking === 'rotate' && <Rotate apiKey={apiKey} close={() => setAsking(undefined)} />}
      <Confirm
        title={t('keys.revoke.title')}
        action={t('keys.revoke')}
        open={asking === 'revoke'}
        busy={revoking.isPending}
        wrong={revoking.error ? reason(revoking.error) : undefined}
        onConfirm={() => revoking.mutate()}
        onClose={() => setAsking(undefined)}
      >
        {t('keys.revoke.text')}
      </Confirm>
    </>
  )
}

const allTabs = ['overview', 'webhook', 'deliveries', 'requests', 'usage'] as const
/** How often the key is read again: no event shows changes of its backlog and cursor. */
const LOOK_MS = 5_000

export function KeyPage() {
  const t = useT()
  const { id: given = '' } = useParams()
  const id = Number(given)
  const reason = useReason()
  const [query, setQuery] = useSearchParams()
  const found = useQuery({
    ...keyQuery(id),
    refetchInterval: ({ state }) => (isGone(state.error) ? false : LOOK_MS),
  })
  const key = isGone(found.error) ? undefined : found.data
  const isViewed = key?.shared?.role === 'viewer'
  const tabs = allTabs.filter((one) => !(isViewed && one === 'webhook'))
  const tab = tabs.find((one) => one === query.get('tab')) ?? 'overview'
  const crumbs = <Link to="/dashboard/keys">{t('nav.keys')}</Link>

  if (!key) {
    return (
      <Page title={t('keys.one', { id: given })} crumbs={crumbs}>
        {found.isError ? <Failed cause={found.error} retry={() => found.refetch()} /> : <Loading />}
      </Page>
    )
  }
  const standing = keyStanding(key, Date.now())
  return (
    <Page
      title={key.name}
      crumbs={crumbs}
      lead={
        <span className="row">
          {!(standing === 'usable' && key.webhook && isTroubled(key.webhook)) && (
            <Badge tone={standingTones[standing]}>{t(`keys.${standing}`)}</Badge>
          )}
          {standing === 'usable' && <ReceivingBadge apiKey={key} />}
          <span className="mono">{key.key_hint}</span>
          <span>
            {t('keys.created')} <Ago at={key.created_at} />
          </span>
        </span>
      }
      actions={!isViewed && <KeyActions apiKey={key} />}
    >
      {found.isError && <Notice tone="warn">{reason(found.error)}</Notice>}
      <Tabs
        label={t('keys.parts')}
        value={tab}
        tabs={tabs.map((one) => [one, t(`keys.tab.${one}`)])}
        onChange={(next) => setQuery(next === 'overview' ? {} : { tab: next }, { replace: true })}
      >
        {tab === 'overview' && <Overview apiKey={key} />}
        {tab === 'webhook' && <WebhookTab apiKey={key} />}
        {tab === 'deliveries' && <Deliveries apiKey={key} />}
        {tab === 'requests' && <Requests apiKey={key} />}
        {tab === 'usage' && <KeyUsage apiKey={key} />}
      </Tabs>
    </Page>
  )
}

const KEPT = 'kept'

interface LifetimeProps {
  readonly until: string | null
  readonly chosen: string
  onChange(lifetime: string): void
}

function Lifetime({ until, chosen, onChange }: LifetimeProps) {
  const t = useT()
  const { moment } = useFormats()
  const end = until === null ? t('keys.lifetime.never') : moment(until)
  const kept = [KEPT, t('keys.lifetime.kept', { until: end })] as const
  return (
    <Choice
      label={t('keys.lifetime')}
      value={chosen}
      options={[kept, ...lifetimeOptions(t)]}
      onChange={onChange}
    />
  )
}

export function ChangeKey({ apiKey, close }: { readonly apiKey: ApiKey; close(): void }) {
  const t = useT()
  const toast = useToast()
  const queries = useQueryClient()
  /** As it was when the dialog opened: what is left as it was is not sent, since it may be changed elsewhere meanwhile. */
  const [shown] = useState(apiKey)
  const [name, setName] = useState(shown.name)
  const [scopes, setScopes] = useState<readonly string[]>(shown.scopes)
  const [lifetime, setLifetime] = useState<string>(KEPT)
  const [addresses, setAddresses] = useState(shown.allowed_ips.join('\n'))
  const allowed = addressesIn(addresses)
  const changing = useMutation({
    mutationFn: () =>
      call<ApiKey>('PATCH', `/api_keys/${apiKey.api_key_id}`, {
        body: {
          ...(name !== shown.name && { name: name.trim() }),
          ...(`${scopes}` !== `${shown.scopes}` && { scopes }),
          ...(lifetime !== KEPT && { expires_at: expiryIn(lifetime) }),
          ...(`${allowed}` !== `${shown.allowed_ips}` && { allowed_ips: allowed }),
        },
      }),
    onSuccess(changed) {
      queries.setQueryData(['key', apiKey.api_key_id], changed)
      queries.invalidateQueries({ queryKey: ['keys'] })
      toast(t('keys.change.done'))
      close()
    },
  })
  return (
    <Dialog title={t('keys.change.title')} open onClose={close}>
      <Form by={changing}>
        <Field
          label={t('keys.name')}
          required
          maxLength={100}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Scopes chosen={scopes} onChange={setScopes} />
        <Lifetime until={apiKey.expires_at} chosen={lifetime} onChange={setLifetime} />
        <Addresses text={addresses} onChange={setAddresses} />
        <Wrong cause={changing.error} />
        <div className="actions">
          <Button onClick={close}>{t('cancel')}</Button>
          <Button
            type="submit"
            kind="first"
            busy={changing.isPending}
            disabled={scopes.length === 0 || name.trim() === ''}
          >
            {t('save')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
