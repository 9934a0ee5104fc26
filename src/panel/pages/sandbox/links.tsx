/** Links that lead into the sandbox: to a chat that one joins or asks to join, or to an invoice that one pays. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { groupsQuery, peopleQuery, profileOf } from '../../api/sandbox.ts'
import type { Person } from '../../api/sandbox-types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Loading, Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { useActing } from './acting.ts'
import { personName } from './names.tsx'
import { PayDialog } from './pay.tsx'

const INVITE = 'https://sandbox.invalid/+'
const INVOICE = 'https://sandbox.invalid/$'

export const isSandboxLink = (address: string): boolean =>
  address.startsWith(INVITE) || address.startsWith(INVOICE)

interface SandboxLinkProps {
  readonly address: string
  readonly className?: string | undefined
  readonly children: ReactNode
}

export function SandboxLink({ address, className = 'sandbox-link', children }: SandboxLinkProps) {
  const [isOpen, setOpen] = useState(false)
  const Opened = address.startsWith(INVITE) ? JoinDialog : InvoiceDialog
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

/** Where an invite link leads, before one follows it. */
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
