/** Links that lead into the sandbox: to a chat that one joins or asks to join, to a bot that one adds to a chat, or to an invoice. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import {
  type Chat,
  type GivenRights,
  type Group,
  groupsQuery,
  offeredRights,
  type Person,
  peopleQuery,
  profileOf,
  setRole,
} from '../../api/sandbox.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loading, Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { runs, useActing } from './acting.ts'
import { chatName, personName } from './names.tsx'
import { PayDialog } from './pay.tsx'
import { allRights, PickChatDialog, PickRightsDialog } from './pick.tsx'

const INVITE = 'https://sandbox.invalid/+'
const INVOICE = 'https://sandbox.invalid/$'

/** The reference's links that add a bot to a group or channel. */
const ADD_BOT = /^https:\/\/t\.me\/\w+\?(?:.*&)?(?:startgroup|startchannel)\b/

export const isSandboxLink = (address: string): boolean =>
  address.startsWith(INVITE) || address.startsWith(INVOICE) || ADD_BOT.test(address)

function dialogFor(address: string) {
  if (address.startsWith(INVITE)) return JoinDialog
  return address.startsWith(INVOICE) ? InvoiceDialog : AddBotDialog
}

interface SandboxLinkProps {
  readonly address: string
  readonly className?: string | undefined
  readonly children: ReactNode
}

export function SandboxLink({ address, className = 'sandbox-link', children }: SandboxLinkProps) {
  const [isOpen, setOpen] = useState(false)
  const Opened = dialogFor(address)
  return (
    <>
      <button type="button" className={className} onClick={() => setOpen(true)}>
        {children}
      </button>
      {isOpen && <Opened link={address} onClose={() => setOpen(false)} />}
    </>
  )
}

interface LinkProps {
  readonly link: string
  onClose(): void
}

function InvoiceDialog({ link, onClose }: LinkProps) {
  const t = useT()
  const { person } = useActing()
  const found = useQuery({
    queryKey: ['sandbox', 'invoice', person.id, link],
    queryFn: () => profileOf(person.id).invoice(link),
    retry: false,
  })
  const { invoice } = found.data ?? {}
  if (invoice) {
    return <PayDialog payable={{ invoice_link: link }} invoice={invoice} onClose={onClose} />
  }
  return (
    <Dialog title={t('pay.pay')} open onClose={onClose}>
      {found.isPending && <Loading lines={2} />}
      <Wrong cause={found.error} />
    </Dialog>
  )
}

const DAY_SECONDS = 86_400

/** A preview of the chat of an invite link, before the person joins. */
export function JoinDialog({ link, onClose }: LinkProps) {
  const t = useT()
  const toast = useToast()
  const queries = useQueryClient()
  const { money } = useFormats()
  const { person } = useActing()
  const profile = profileOf(person.id)
  const found = useQuery({
    queryKey: ['sandbox', 'invite', person.id, link],
    queryFn: () => profile.lookAtInvite(link),
    retry: false,
    gcTime: 0,
  })
  const joining = useMutation({
    mutationFn: () => profile.follow(link),
    onSuccess({ membership }) {
      toast(t(`joining.${membership}`))
      const changed = [['sandbox', 'own', person.id], groupsQuery.queryKey, peopleQuery.queryKey]
      for (const queryKey of changed) queries.invalidateQueries({ queryKey })
      onClose()
    },
  })
  const { title, type, needs_approval, subscription } = found.data ?? {}
  return (
    <Dialog title={title ?? t('own.joining')} open onClose={onClose}>
      {found.isPending && <Loading lines={2} />}
      {type && <p className="quiet small">{t.word('messenger.type', type)}</p>}
      {needs_approval && <p>{t('joining.asks')}</p>}
      {subscription && (
        <p>
          {money(subscription.star_count, 'XTR')},{' '}
          {t('pay.perPeriod', { days: Math.round(subscription.period / DAY_SECONDS) })}
        </p>
      )}
      <Wrong cause={found.error ?? joining.error} />
      <div className="actions">
        <Button onClick={onClose}>{t('cancel')}</Button>
        {found.data && (
          <Button kind="first" busy={joining.isPending} onClick={() => joining.mutate()}>
            {needs_approval
              ? t('joining.ask')
              : subscription
                ? t('pay.title', { sum: money(subscription.star_count, 'XTR') })
                : t('joining.join')}
          </Button>
        )}
      </div>
    </Dialog>
  )
}

const LOOK_AGAIN_MS = 3_000

interface OpenRequestsProps {
  readonly person: Person
  readonly chat: number
}

/** The people who ask to be let in, with the buttons to answer them. */
export function OpenRequests({ person, chat }: OpenRequestsProps) {
  const t = useT()
  const queries = useQueryClient()
  const { day } = useFormats()
  const profile = profileOf(person.id)
  const queryKey = ['sandbox', 'own', person.id, 'open requests', chat]
  const asking = useQuery({
    queryKey,
    queryFn: () => profile.openRequests(chat),
    staleTime: 0,
    refetchInterval: LOOK_AGAIN_MS,
  })
  const answering = useMutation({
    mutationFn: ({ asker, approve }: { asker: number; approve: boolean }) =>
      profile.answerRequest(chat, asker, approve),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey }),
        queries.invalidateQueries(groupsQuery),
      ]),
  })
  if (!asking.data?.length) return <Wrong cause={asking.error ?? answering.error} />
  return (
    <section className="stack tight" aria-label={t('members.asking')}>
      <h3 className="label">{t('members.asking')}</h3>
      <ul className="records">
        {asking.data.map(({ person: asker, date, bio }) => (
          <li key={asker.id} className="record">
            <span className="grow">
              <bdi className="label">{personName(asker)}</bdi>{' '}
              <span className="quiet small">{t('joining.since', { day: day(date * 1000) })}</span>
              {bio && (
                <span className="block small" dir="auto">
                  {bio}
                </span>
              )}
            </span>
            {([true, false] as const).map((approve) => (
              <Button
                key={`${approve}`}
                size="slim"
                disabled={answering.isPending}
                aria-label={t(approve ? 'members.approve' : 'members.decline', {
                  name: personName(asker),
                })}
                onClick={() => answering.mutate({ asker: asker.id, approve })}
              >
                {t(approve ? 'members.add' : 'suggestion.decline')}
              </Button>
            ))}
          </li>
        ))}
      </ul>
      <Wrong cause={asking.error ?? answering.error} />
    </section>
  )
}

/** The parts of a link that adds a bot: where to, with which rights, and the text that starts it there. */
function partsOf(link: string) {
  const { pathname, searchParams: query } = new URL(link)
  const admin = query.get('admin')
  const named = new Set(admin?.split(/[ +]/))
  return {
    username: pathname.slice(1),
    toChannel: query.has('startchannel'),
    payload: query.get('startgroup') ?? '',
    asked: admin ? allRights.filter((right) => named.has(right)) : undefined,
  }
}

/** Adds a bot to a group or channel that the person runs: with the rights that it asks for, else as a member. */
function AddBotDialog({ link, onClose }: LinkProps) {
  const t = useT()
  const toast = useToast()
  const queries = useQueryClient()
  const { person, people, api } = useActing()
  const groups = useQuery(groupsQuery)
  const [promotedIn, promoteIn] = useState<Chat>()
  const { username, toChannel, payload, asked } = partsOf(link)
  const bot = people.find((one) => one.username?.toLowerCase() === username.toLowerCase())
  const isPlace = (group: Group) => (group.type === 'channel') === toChannel
  if (!bot) {
    return (
      <Dialog title={t('adding.title', { name: username })} open onClose={onClose}>
        <p>{t('adding.nobody', { name: username })}</p>
      </Dialog>
    )
  }
  const add = async (chat: Chat, given?: GivenRights) => {
    await setRole(chat.id, bot.id, given ? 'admin' : 'member', given)
    if (payload) await api.write({ to: chat.id, text: `/start@${username} ${payload}` })
    await queries.invalidateQueries(groupsQuery)
    toast(t('adding.done', { name: personName(bot), chat: chatName(chat) }))
  }
  if (promotedIn) {
    return (
      <PickRightsDialog
        chat={promotedIn}
        person={bot}
        asked={asked}
        pick={(given) => add(promotedIn, given)}
        onClose={onClose}
      />
    )
  }
  return (
    <PickChatDialog
      title={t('adding.title', { name: personName(bot) })}
      chats={groups.data?.items.filter((group) => isPlace(group) && runs(group, person)) ?? []}
      pick={async (chat) => {
        const isAdmin = toChannel || asked || (await offeredRights(chat.id, bot.id)).is_asked
        if (!isAdmin) return add(chat)
        promoteIn(chat)
        return 'goes on'
      }}
      onClose={onClose}
    />
  )
}
