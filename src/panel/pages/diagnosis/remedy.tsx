/** The remedy of each finding in the reader's language, with a button that does it or links to the page. */

import { useMutation, useQuery } from '@tanstack/react-query'
import type { Facts, FindingCode } from '../../../../machines/diagnosis/facts.ts'
import { call } from '../../api/call.ts'
import { credentialQuery } from '../../api/queries.ts'
import type { ApiKey, Credential, Diagnosis } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

/** The page on which the finding can be repaired. */
type Place = 'link' | 'restart' | 'key' | 'webhook' | 'newKey' | 'account' | 'again'

const places: Readonly<Partial<Record<string, Place>>> & Partial<Record<FindingCode, Place>> = {
  key_revoked: 'newKey',
  key_expired: 'key',
  wrong_secret: 'key',
  missing_scope: 'key',
  address_not_allowed: 'key',
  credential_deleted: 'link',
  session_revoked: 'link',
  session_expired: 'link',
  session_duplicated: 'link',
  password_needed: 'link',
  logged_out: 'link',
  invalid: 'link',
  secrets_unreadable: 'link',
  password_changed: 'link',
  replaced_elsewhere: 'restart',
  crash_loop: 'restart',
  failed: 'restart',
  account_banned: 'account',
  account_deleted: 'account',
  account_disabled: 'account',
  deactivated: 'account',
  two_pollers: 'key',
  polling_and_webhook: 'webhook',
  nobody_receives: 'key',
  updates_left_out: 'key',
  offset_kept: 'key',
  offset_negative: 'key',
  offset_ahead: 'key',
  bot_behind: 'key',
  calls_too_fast: 'key',
  secret_refused: 'webhook',
  endpoint_gone: 'webhook',
  endpoint_not_found: 'webhook',
  endpoint_redirects: 'webhook',
  endpoint_slow: 'webhook',
  webhook_suspended: 'webhook',
  endpoint_failing: 'webhook',
  webhook_turned_off: 'webhook',
  updates_dropped: 'key',
}

type Evidence = Partial<Record<keyof Facts, string>>

/** The tab of the key, or `account`, that shows what a line of evidence says. */
const seenIn: Evidence & Readonly<Partial<Record<string, string>>> = {
  calls_refused: '?tab=requests&error_code=403',
  calls_refused_from: '?tab=requests&error_code=403',
  calls_paced: '?tab=requests&error_code=429',
  scopes: '?tab=overview',
  key_revoked: '?tab=overview',
  key_expired: '?tab=overview',
  scope_missing: '?tab=overview',
  may_not_receive: '?tab=overview',
  state: 'account',
  state_reason: 'account',
  explained: 'account',
  connecting: 'account',
  last_event: 'account',
  nothing_arrives: 'account',
  nothing_arrives_since: 'account',
  no_round_trip: 'account',
  round_trip: 'account',
  account_out: 'account',
  polling_beside_webhook: '?tab=requests&error_code=409',
  other_pollers: '?tab=requests&error_code=409',
  receives_by_polling: '?tab=requests&method=getUpdates',
  receives_by_webhook: '?tab=webhook',
  webhook: '?tab=webhook',
  webhook_removed: '?tab=webhook',
  kinds_left_out: 'account',
  offset_kept: '?tab=requests&method=getUpdates',
  offset_negative: '?tab=requests&method=getUpdates',
  offset_ahead: '?tab=requests&method=getUpdates',
  pending: '?tab=overview',
  dropped: '?tab=overview',
  oldest_waits: '?tab=overview',
  last_answer: '?tab=deliveries',
  slow_answers: '?tab=deliveries',
  failures: '?tab=deliveries&outcome=failed',
  last_error: '?tab=deliveries&outcome=failed',
}

/** The address at which the evidence can be seen; undefined where there is none. */
export function placeOf(code: string | undefined, diagnosis: Diagnosis): string | undefined {
  const place = code === undefined ? undefined : seenIn[code]
  if (place === undefined) return undefined
  return place === 'account'
    ? `/dashboard/accounts/${diagnosis.credential_id}#timeline`
    : `/dashboard/keys/${diagnosis.api_key_id}${place}`
}

/** What no share of an account allows. */
const ofOwner: readonly Place[] = ['link', 'restart']

/** Findings that pass by themselves, or need another recipient: the button only runs the diagnosis again. */
const placeFor = (code: string): Place => places[code] ?? 'again'

const unknown = (code: string) => code.replaceAll('_', ' ')

/** Remedies without a message of the panel are shown in the service's English. */
export function useFix(): (code: string | null, remedy: string | null) => string {
  const t = useT()
  return (code, remedy) => {
    if (code === null) return remedy ?? ''
    const known = t.word('diagnosis.fix', code)
    return known === unknown(code) ? (remedy ?? known) : known
  }
}

interface RemedyProps {
  readonly code: string
  readonly diagnosis: Diagnosis
  readonly apiKey: ApiKey
}

/** For those who share the account. */
export function AskOwner({ shared }: { readonly shared: NonNullable<Credential['shared']> }) {
  const t = useT()
  return (
    <p>
      {t('diagnosis.askOwner')} <span className="ltr">{shared.owner.phone}</span>
    </p>
  )
}

export function Remedy({ code, diagnosis, apiKey: { shared } }: RemedyProps) {
  const t = useT()
  const { api_key_id, credential_id } = diagnosis
  const place = placeFor(code)
  if (shared && ofOwner.includes(place)) return <AskOwner shared={shared} />
  switch (place) {
    case 'link':
      return <LinkAgain credentialId={credential_id} />
    case 'restart':
      return <Restart credentialId={credential_id} />
    case 'key':
      return (
        <ButtonLink kind="first" icon="key" to={`/dashboard/keys/${api_key_id}`}>
          {t('diagnosis.toKey')}
        </ButtonLink>
      )
    case 'webhook':
      return (
        <ButtonLink kind="first" icon="send" to={`/dashboard/keys/${api_key_id}?tab=webhook`}>
          {t('diagnosis.toWebhook')}
        </ButtonLink>
      )
    case 'newKey':
      return (
        <ButtonLink kind="first" icon="plus" to={`/dashboard/keys?create=${credential_id}`}>
          {t('account.keys.create')}
        </ButtonLink>
      )
    case 'account':
      return (
        <ButtonLink kind="first" to={`/dashboard/accounts/${credential_id}`}>
          {t('diagnosis.toAccount')}
        </ButtonLink>
      )
    case 'again':
      return null
  }
}

/** A deleted account cannot be linked again: it is linked as a new one. */
function LinkAgain({ credentialId }: { readonly credentialId: number }) {
  const t = useT()
  const { data } = useQuery(credentialQuery(credentialId))
  const to = data
    ? `/dashboard/link?platform=${data.platform}&again=${credentialId}`
    : '/dashboard/link'
  return (
    <ButtonLink kind="first" icon="link" to={to}>
      {t(data ? 'account.linkAgain' : 'accounts.link')}
    </ButtonLink>
  )
}

function Restart({ credentialId }: { readonly credentialId: number }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const restarting = useMutation({
    mutationFn: () => call('POST', `/platforms/credentials/${credentialId}/restart`),
    onSuccess: () => toast(t('account.restarted')),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <Button
      kind="first"
      icon="restart"
      busy={restarting.isPending}
      onClick={() => restarting.mutate()}
    >
      {t('account.restart')}
    </Button>
  )
}
