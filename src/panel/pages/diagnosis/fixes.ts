/** What is to be done about each finding: in words of the reader, and where. */
import type { FindingCode } from '../../../../machines/diagnosis/facts.ts'
import { useT } from '../../i18n/language.tsx'

/** Where the button leads that puts it right. */
type Place = 'link' | 'restart' | 'key' | 'webhook' | 'newKey' | 'account' | 'again'

const places: Readonly<Partial<Record<string, Place>>> & Partial<Record<FindingCode, Place>> = {
  key_revoked: 'newKey',
  key_expired: 'key',
  wrong_secret: 'key',
  missing_scope: 'key',
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
  secret_refused: 'webhook',
  endpoint_gone: 'webhook',
  webhook_suspended: 'webhook',
  endpoint_failing: 'webhook',
  webhook_turned_off: 'webhook',
  updates_dropped: 'key',
}

/** What passes by itself, or needs another target, is only looked at again. */
export const placeFor = (code: string): Place => places[code] ?? 'again'

const unknown = (code: string) => code.replaceAll('_', ' ')

/** What the panel has no words for is said in the service's. */
export function useFix(): (code: string | null, remedy: string | null) => string {
  const t = useT()
  return (code, remedy) => {
    if (code === null) return remedy ?? ''
    const known = t.word('diagnosis.fix', code)
    return known === unknown(code) ? (remedy ?? known) : known
  }
}
