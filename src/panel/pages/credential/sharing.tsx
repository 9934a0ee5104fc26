/** Accounts that are shared: with whom an own one is, and which ones others share with the user. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import {
  type Credential,
  nameOf,
  type ReceivedShare,
  type RecordPage,
  type Share,
} from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge, StateBadge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Failed, Loading, useReason, Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

const SHOWN = 100

const sharesQuery = (credentialId: number) =>
  queryOptions({
    queryKey: ['shares', credentialId],
    queryFn: ({ signal }) =>
      call<RecordPage<Share>>('GET', `/platforms/credentials/${credentialId}/shares`, {
        query: { limit: SHOWN },
        signal,
      }),
  })

const receivedQuery = queryOptions({
  queryKey: ['shares', 'received'],
  queryFn: ({ signal }) =>
    call<RecordPage<ReceivedShare>>('GET', '/shares', { query: { limit: SHOWN }, signal }),
})

const roles = ['viewer', 'developer'] as const
type Role = (typeof roles)[number]

function useRoleOptions() {
  const t = useT()
  return roles.map((role) => [role, t(`sharing.role.${role}`)] as const)
}

const tones: Readonly<Record<Share['state'], Tone>> = {
  active: 'good',
  invited: 'busy',
  expired: 'idle',
}

/** With whom the account is shared. Its owner invites others, changes what they may do, and ends it. */
export function Sharing({
  credential: { credential_id: id },
}: {
  readonly credential: Credential
}) {
  const t = useT()
  const list = useQuery(sharesQuery(id))
  const [isInviting, setInviting] = useState(false)
  const [open, setOpen] = useState<Share>()
  const shares = list.data?.items
  return (
    <Card
      title={t('sharing.title')}
      aside={
        <Button size="slim" icon="plus" onClick={() => setInviting(true)}>
          {t('sharing.invite')}
        </Button>
      }
    >
      {list.isError && !shares ? (
        <Failed cause={list.error} retry={() => list.refetch()} />
      ) : !shares ? (
        <Loading />
      ) : shares.length === 0 ? (
        <p className="quiet small">{t('sharing.none')}</p>
      ) : (
        <ul className="records">
          {shares.map((share) => (
            <ShareRow key={share.share_id} share={share} change={() => setOpen(share)} />
          ))}
        </ul>
      )}
      {isInviting && <Invite credentialId={id} close={() => setInviting(false)} />}
      {open && <Change credentialId={id} share={open} close={() => setOpen(undefined)} />}
    </Card>
  )
}

function ShareRow({ share, change }: { readonly share: Share; change(): void }) {
  const t = useT()
  const { day } = useFormats()
  return (
    <li className="record">
      <span className="grow">
        <span className="row">
          <span className="label ltr">{share.phone}</span>
          <Badge tone={tones[share.state]}>{t(`sharing.state.${share.state}`)}</Badge>
        </span>
        <span className="quiet small block">
          {t(`sharing.role.${share.role}`)}
          {share.accepted_at && ` · ${t('sharing.since', { day: day(share.accepted_at) })}`}
          {share.api_key_ids.length > 0 &&
            ` · ${t.count('sharing.keys', share.api_key_ids.length)}`}
        </span>
      </span>
      <Button
        size="slim"
        aria-label={t('sharing.changeOf', { phone: share.phone })}
        onClick={change}
      >
        {t('sharing.change')}
      </Button>
    </li>
  )
}

function Invite({ credentialId, close }: { readonly credentialId: number; close(): void }) {
  const t = useT()
  const toast = useToast()
  const queries = useQueryClient()
  const [phone, setPhone] = useState('')
  const [role, setRole] = useState<string>('viewer')
  const options = useRoleOptions()
  const inviting = useMutation({
    mutationFn: () =>
      call<Share>('POST', `/platforms/credentials/${credentialId}/shares`, {
        body: { phone, role },
      }),
    async onSuccess() {
      toast(t('sharing.invited'))
      await queries.invalidateQueries(sharesQuery(credentialId))
      close()
    },
  })
  return (
    <Dialog title={t('sharing.invite')} open isFirm={inviting.isPending} onClose={close}>
      <Form by={inviting}>
        <Field
          label={t('sharing.phone')}
          hint={t('sharing.phoneHint')}
          type="tel"
          dir="ltr"
          required
          autoComplete="off"
          value={phone}
          onChange={(event) => setPhone(event.target.value)}
        />
        <Choice label={t('sharing.role')} value={role} options={options} onChange={setRole} />
        <p className="quiet small">{t(`sharing.may.${role as Role}`)}</p>
        <Wrong cause={inviting.error} />
        <div className="actions">
          <Button disabled={inviting.isPending} onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" kind="first" busy={inviting.isPending}>
            {t('sharing.invite')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

interface ChangeProps {
  readonly credentialId: number
  readonly share: Share
  close(): void
}

const ENDED = 'ended'

function useChange({ credentialId, share, close }: ChangeProps, chosen: string, revokes: boolean) {
  const t = useT()
  const toast = useToast()
  const queries = useQueryClient()
  const path = `/platforms/credentials/${credentialId}/shares/${share.share_id}`
  return useMutation({
    mutationFn: () =>
      chosen === ENDED
        ? call('DELETE', path, { query: { revoke_keys: `${revokes}` } })
        : call('PATCH', path, { body: { role: chosen, revoke_keys: revokes } }),
    async onSuccess() {
      toast(t(chosen === ENDED ? 'sharing.ended' : 'sharing.changed'))
      await queries.invalidateQueries(sharesQuery(credentialId))
      queries.invalidateQueries({ queryKey: ['keys'] })
      close()
    },
  })
}

/** Another role, or the end; with keys whose secret somebody was shown, it says so and offers to revoke them. */
function Change({ credentialId, share, close }: ChangeProps) {
  const t = useT()
  const [chosen, setChosen] = useState<string>(share.role)
  const [revokes, setRevokes] = useState(false)
  const options = useRoleOptions()
  const keys = share.api_key_ids.length
  const losesKeys = keys > 0 && chosen !== 'developer'
  const changing = useChange({ credentialId, share, close }, chosen, losesKeys && revokes)
  return (
    <Dialog title={share.phone} open isFirm={changing.isPending} onClose={close}>
      <Form by={changing}>
        <Choice
          label={t('sharing.role')}
          value={chosen}
          options={[...options, [ENDED, t('sharing.end')]]}
          onChange={setChosen}
        />
        {chosen !== ENDED && <p className="quiet small">{t(`sharing.may.${chosen as Role}`)}</p>}
        {losesKeys && (
          <label className="choice">
            <input
              type="checkbox"
              checked={revokes}
              onChange={(event) => setRevokes(event.target.checked)}
            />
            <span>
              <span>{t.count('sharing.revoke', keys)}</span>
              <span className="quiet small block">{t('sharing.revokeHint')}</span>
            </span>
          </label>
        )}
        <Wrong cause={changing.error} />
        <div className="actions">
          <Button disabled={changing.isPending} onClick={close}>
            {t('cancel')}
          </Button>
          <Button
            type="submit"
            kind={chosen === ENDED ? 'danger first' : 'first'}
            busy={changing.isPending}
          >
            {t(chosen === ENDED ? 'sharing.end' : 'save')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

/** Whose the account is, on the page of one that is shared with the user, and the way out. */
export function SharedBy({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const reason = useReason()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const received = useQuery(receivedQuery).data?.items
  const share = received?.find((one) => one.credential_id === credential.credential_id)
  const leaving = useMutation({
    mutationFn: () => call('DELETE', `/shares/${share?.share_id}`),
    onSuccess() {
      queries.invalidateQueries(receivedQuery)
      navigate('/dashboard/accounts')
    },
  })
  const { shared } = credential
  if (!shared) return null
  return (
    <Card
      title={t('sharing.title')}
      aside={
        <Button size="slim" disabled={!share} onClick={() => setAsking(true)}>
          {t('sharing.leave')}
        </Button>
      }
    >
      <p>
        {t('sharing.by')} <span className="ltr">{shared.owner.phone}</span> ·{' '}
        {t(`sharing.role.${shared.role}`)}
      </p>
      <p className="quiet small">{t(`sharing.may.${shared.role}`)}</p>
      <Confirm
        title={t('sharing.leave')}
        action={t('sharing.leave')}
        open={isAsking}
        busy={leaving.isPending}
        wrong={leaving.error ? reason(leaving.error) : undefined}
        onConfirm={() => leaving.mutate()}
        onClose={() => setAsking(false)}
      >
        {t('sharing.leaveText')}
      </Confirm>
    </Card>
  )
}

/** Above the own accounts: those of others, and invitations. Nothing where there are none. */
export function SharedWithMe() {
  const t = useT()
  const items = useQuery(receivedQuery).data?.items ?? []
  if (items.length === 0) return null
  return (
    <Card title={t('sharing.received')}>
      <ul className="records">
        {items.map((share) =>
          share.credential ? (
            <li key={share.share_id}>
              <Link to={`/dashboard/accounts/${share.credential_id}`} className="record">
                <span className="grow">
                  <span className="label clip" dir="auto">
                    {nameOf(share.credential)}
                  </span>
                  <From share={share} />
                </span>
                <StateBadge state={share.credential.state} />
              </Link>
            </li>
          ) : (
            <Invitation key={share.share_id} share={share} />
          ),
        )}
      </ul>
    </Card>
  )
}

function From({ share }: { readonly share: ReceivedShare }) {
  const t = useT()
  return (
    <span className="quiet small block">
      {t.word('platform', share.platform)} · {t('sharing.by')}{' '}
      <span className="ltr">{share.owner.phone}</span> · {t(`sharing.role.${share.role}`)}
    </span>
  )
}

function Invitation({ share }: { readonly share: ReceivedShare }) {
  const t = useT()
  const toast = useToast()
  const reason = useReason()
  const queries = useQueryClient()
  const path = `/shares/${share.share_id}`
  const answering = useMutation({
    mutationFn: (accepts: boolean) =>
      accepts ? call('POST', `${path}/accept`) : call('DELETE', path),
    onSuccess: () => queries.invalidateQueries(receivedQuery),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <li className="record">
      <span className="grow">
        <span className="label">{t('sharing.offered')}</span>
        <From share={share} />
      </span>
      <Button size="slim" disabled={answering.isPending} onClick={() => answering.mutate(false)}>
        {t('sharing.decline')}
      </Button>
      <Button
        size="slim"
        kind="first"
        busy={answering.isPending}
        onClick={() => answering.mutate(true)}
      >
        {t('sharing.accept')}
      </Button>
    </li>
  )
}
