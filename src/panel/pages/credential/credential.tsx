/** /dashboard/accounts/:id: one messenger account with its state machine, settings, keys and actions. */
import { type InfiniteData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { call } from '../../api/call.ts'
import { isGone } from '../../api/failure.ts'
import { credentialQuery, keysOfQuery, platformsQuery } from '../../api/queries.ts'
import { follow } from '../../api/stream.ts'
import {
  type Credential,
  handleOf,
  type LiveTransition,
  nameOf,
  type RecordPage,
  type Settings,
  type Transition,
} from '../../api/types.ts'
import { Hint } from '../../help/hint.tsx'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { changed, throttled } from '../../live/live.tsx'
import { Badge, StateBadge } from '../../ui/badge.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Toggle } from '../../ui/figure.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Empty, Failed, Loading, Notice, useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { TagButton } from '../bulk/tags.tsx'
import { KeyRecord } from '../keys/records.tsx'
import { NodeOfAccount } from '../nodes/moving.tsx'
import { Health } from './health.tsx'
import { MachineAndTimeline } from './machine.tsx'
import { SharedBy, Sharing } from './sharing.tsx'
import { Traffic } from './traffic.tsx'

/** Whom an account is shared with can do less. */
const mayDevelop = ({ shared }: Credential) => shared?.role !== 'viewer'

function DiagnosisLink({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const to = `/dashboard/accounts/${credential.credential_id}/diagnosis`
  return (
    <ButtonLink to={to} icon="stethoscope">
      {t('keys.diagnose')}
    </ButtonLink>
  )
}

/** The actions on an account; those of its owner only where it is the user's own. */
export function Actions({ credential }: { readonly credential: Credential }) {
  if (!credential.shared) return <OwnActions credential={credential} />
  return mayDevelop(credential) && <DiagnosisLink credential={credential} />
}

/** Restart it, link it again, delete it. */
function OwnActions({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const [isAsking, setAsking] = useState(false)
  const deleting = useDeletion(credential)
  const restarting = useMutation({
    mutationFn: () => call('POST', `/platforms/credentials/${credential.credential_id}/restart`),
    onSuccess: () => toast(t('account.restarted')),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <>
      <DiagnosisLink credential={credential} />
      {['link_again', 'contact_platform'].includes(credential.action) && (
        <ButtonLink
          to={`/dashboard/link?platform=${credential.platform}&again=${credential.credential_id}`}
          kind={credential.action === 'link_again' ? 'first' : 'plain'}
          icon="link"
        >
          {t('account.linkAgain')}
        </ButtonLink>
      )}
      <Button
        icon="restart"
        kind={credential.action === 'restart' ? 'first' : 'plain'}
        busy={restarting.isPending}
        onClick={() => restarting.mutate()}
      >
        {t('account.restart')}
      </Button>
      <Button icon="trash" kind="danger" onClick={() => setAsking(true)}>
        {t('account.delete')}
      </Button>
      {isAsking && (
        <Confirm
          title={t('account.delete.title')}
          action={t('account.delete')}
          open
          busy={deleting.isPending}
          wrong={deleting.error ? reason(deleting.error) : undefined}
          // Names use every script and emoji, so not every user can type them.
          word={credential.account.username ?? `${credential.credential_id}`}
          onConfirm={() => deleting.mutate()}
          onClose={() => setAsking(false)}
        >
          {t('account.delete.text')}
        </Confirm>
      )}
    </>
  )
}

function useDeletion({ credential_id }: Credential) {
  const t = useT()
  const toast = useToast()
  const navigate = useNavigate()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => call('DELETE', `/platforms/credentials/${credential_id}`),
    onSuccess() {
      toast(t('account.deleted'))
      for (const key of ['credentials', 'summary', 'urgent', 'keys']) {
        queries.invalidateQueries({ queryKey: [key] })
      }
      navigate('/dashboard/accounts')
    },
  })
}

/** Health, the latest event and keys change without an event of the stream. */
const LOOK_MS = 10_000

/** The keys of one account. */
export function CredentialKeys({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const keys = useQuery({ ...keysOfQuery(credential.credential_id), refetchInterval: LOOK_MS })
  const own = keys.data?.items
  const create = `/dashboard/keys?create=${credential.credential_id}`
  return (
    <Card
      title={t('account.keys')}
      aside={
        mayDevelop(credential) && (
          <ButtonLink to={create} size="slim" icon="plus">
            {t('account.keys.create')}
          </ButtonLink>
        )
      }
    >
      {keys.isError && !keys.data ? (
        <Failed cause={keys.error} retry={() => keys.refetch()} />
      ) : !own ? (
        <Loading />
      ) : own.length === 0 ? (
        <Empty icon="key" title={t('account.keys.none')}>
          {t('account.keys.noneText')}
        </Empty>
      ) : (
        <ul className="records">
          {own.map((key) => (
            <KeyRecord key={key.api_key_id} apiKey={key} />
          ))}
        </ul>
      )}
    </Card>
  )
}

/** The switches, each with a kind of update that a network must have for it to change anything. */
const switches = [
  ['include_self_updates', 'message'],
  ['include_channel_updates', 'channel_post'],
  ['include_channel_update_recovery', 'channel_post'],
  ['include_deleted_updates', 'deleted_messages'],
] as const

const without = (all: Partial<Settings>, some: Partial<Settings>): Partial<Settings> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !(name in some)))

/** The four switches that say what the account receives. */
export function ReceiveSettings({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const [unsaved, setUnsaved] = useState<Partial<Settings>>({})
  const saving = useMutation({
    // One after the other, so that the last answer has the final settings.
    scope: { id: `settings of ${credential.credential_id}` },
    onMutate: (change) => setUnsaved((before) => ({ ...before, ...change })),
    onSettled: (_saved, _cause, change) => setUnsaved((before) => without(before, change)),
    mutationFn: (change: Partial<Settings>) =>
      call<Credential>('PATCH', `/platforms/credentials/${credential.credential_id}/settings`, {
        body: change,
      }),
    async onSuccess(saved) {
      const queryKey = ['credential', credential.credential_id]
      // A request from before the change may be answered after it.
      await queries.cancelQueries({ queryKey })
      queries.setQueryData(queryKey, saved)
      toast(t('account.settings.saved'))
    },
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  const shown = { ...credential.settings, ...unsaved }
  const platforms = useQuery(platformsQuery)
  const network = platforms.data?.find(({ platform }) => platform === credential.platform)
  const lacks = (kind: string) => network && !network.capabilities.update_types.includes(kind)
  return (
    <Card title={t('account.settings')} aside={<Hint about="settings" />}>
      {switches.map(([name, kind]) => (
        <Toggle
          key={name}
          label={t(`setting.${name}`)}
          hint={
            lacks(kind)
              ? t('setting.withoutEffect', { network: network?.name ?? '' })
              : t(`setting.${name}.hint`)
          }
          on={shown[name]}
          onChange={(on) => saving.mutate({ [name]: on })}
        />
      ))}
    </Card>
  )
}

/** The interval at which health is read again while transitions arrive, since they do not contain it. */
const RECORD_MS = 2_000

/** How often the account was seen to change its node. */
function useMoves(node: string | null | undefined): number {
  const [moves, setMoves] = useState(0)
  const former = useRef<string>(undefined)
  useEffect(() => {
    if (!node) return
    if (former.current !== undefined && former.current !== node) setMoves((count) => count + 1)
    former.current = node
  }, [node])
  return moves
}

/** Only the owner of an account hears its changes: after a move it is followed anew. */
export function useFollowed(id: number, moves: number) {
  const queries = useQueryClient()
  const [latest, setLatest] = useState<LiveTransition>()
  const [isLive, setLive] = useState(false)

  useEffect(() => {
    const ended = new AbortController()
    setLatest(undefined)
    const lists = ['timeline', id]
    const record = ['credential', id]
    if (moves > 0) queries.invalidateQueries({ queryKey: lists })
    const lookAgain = throttled(RECORD_MS, ended.signal, () =>
      queries.invalidateQueries({ queryKey: record }),
    )
    follow(`/platforms/credentials/${id}/events`, {
      signal: ended.signal,
      onLive(live) {
        setLive(live)
        if (live) queries.invalidateQueries({ queryKey: lists })
      },
      onEvent(name, data) {
        if (name === 'state') queries.setQueryData(record, data as Credential)
        if (name !== 'transition') return
        const transition = data as LiveTransition
        setLatest(transition)
        queries.setQueryData<Credential>(record, (one) => one && changed(one, transition))
        queries.setQueryData<InfiniteData<RecordPage<Transition>>>(
          lists,
          (list) => list && withNewest(list, transition),
        )
        lookAgain()
      },
    })
    return () => ended.abort()
  }, [id, moves, queries])

  return { latest, isLive }
}

function withNewest(
  list: InfiniteData<RecordPage<Transition>>,
  newest: LiveTransition,
): InfiniteData<RecordPage<Transition>> {
  const [first, ...rest] = list.pages
  if (!first || first.items.some(({ last_at, to }) => last_at === newest.at && to === newest.to)) {
    return list
  }
  const known = newest.repeats ? first.items.find((line) => isSame(line, newest)) : undefined
  const items = known
    ? first.items.map((line) =>
        line === known ? { ...line, count: line.count + 1, last_at: newest.at } : line,
      )
    : [{ ...newest, count: 1, last_at: newest.at }, ...first.items]
  return { ...list, pages: [{ ...first, items }, ...rest] }
}

const isSame = (line: Transition, { from, to, event, reason }: LiveTransition) =>
  line.from === from && line.to === to && line.event === event && line.reason === reason

/** The tags of the account, each leading to all that have it, and the button to change them; or what a share of it allows. */
function OwnTags({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const { credential_id, tags, shared } = credential
  if (shared) return <Badge tone="busy">{t(`sharing.role.${shared.role}`)}</Badge>
  return (
    <>
      {tags.map((tag) => (
        <Link key={tag} className="chip" to={`/dashboard/accounts?tag=${encodeURIComponent(tag)}`}>
          <bdi>#{tag}</bdi>
        </Link>
      ))}
      <TagButton chosen={{ credential_ids: [credential_id] }} count={1} />
    </>
  )
}

export function CredentialPage() {
  const t = useT()
  const { day } = useFormats()
  const { id: given = '' } = useParams()
  const id = Number(given)
  const found = useQuery({
    ...credentialQuery(id),
    refetchInterval: ({ state }) => (isGone(state.error) ? false : LOOK_MS),
  })
  const { latest, isLive } = useFollowed(id, useMoves(found.data?.node))
  const crumbs = <Link to="/dashboard/accounts">{t('accounts.title')}</Link>
  // The cached records of a deleted account are no longer true.
  const one = isGone(found.error) ? undefined : found.data

  if (!one) {
    return (
      <Page title={t('account.number', { id: given })} crumbs={crumbs}>
        {found.isError ? <Failed cause={found.error} retry={() => found.refetch()} /> : <Loading />}
      </Page>
    )
  }
  return (
    <Page
      title={nameOf(one)}
      crumbs={crumbs}
      lead={
        <span className="row">
          <StateBadge state={one.state} />
          <span className="ltr">{handleOf(one)}</span>
          <span>{t.word('platform', one.platform)}</span>
          <span>{t('account.number', { id: `${id}` })}</span>
          <span>{t('account.linked', { day: day(one.created_at) })}</span>
          <OwnTags credential={one} />
        </span>
      }
      actions={<Actions credential={one} />}
    >
      {one.action !== 'none' && (
        <Notice tone={one.action === 'wait' ? 'warn' : 'bad'}>
          <p className="label">{t.word('action', one.action)}</p>
          {one.reason && <p className="quiet small phrase">{t.word('reason', one.reason)}</p>}
        </Notice>
      )}
      <Health credential={one} />
      <MachineAndTimeline credential={one} latest={latest} isLive={isLive} />
      <div className="columns">
        <Traffic credential={one} />
        <div className="stack">
          {mayDevelop(one) && <ReceiveSettings credential={one} />}
          <CredentialKeys credential={one} />
          {one.shared ? <SharedBy credential={one} /> : <Sharing credential={one} />}
          {!one.shared && <NodeOfAccount credential={one} />}
        </div>
      </div>
    </Page>
  )
}
