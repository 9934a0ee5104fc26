/** Reads the end of a session from the server's last error: the state of the account, and a reason. */
import type { Reason } from '../../../machines/model/reason.ts'
import { NOT_STORED, NotStored } from '../kit/event-line.ts'
import type { Ending } from '../kit/session-life.ts'
import { StorageAway, TakenOver } from './failures.ts'
import { ServerUnproven } from './sasl/scram.ts'
import { EncryptionMissing, Oversized } from './transport.ts'

/** Ends that a person decided and may revoke. */
const DECIDED_SECONDS = 300
/** An error that servers also send while they start. */
const STARTING_SECONDS = 60

const decided = (reason: Reason): Ending => ({
  kind: 'lost',
  reason,
  retryAfterSeconds: DECIDED_SECONDS,
})
const starting = (reason: Reason): Ending => ({
  kind: 'lost',
  reason,
  retryAfterSeconds: STARTING_SECONDS,
})
const soon = (reason: Reason): Ending => ({ kind: 'lost', reason })

const DELETED: Ending = { kind: 'invalid', reason: 'account_deleted' }
const DISABLED: Ending = { kind: 'invalid', reason: 'account_disabled' }
/** The standard deliberately does not distinguish a changed password from a deleted account. */
const PASSWORD: Ending = { kind: 'revoked', reason: 'password_changed' }
/** Servers say the same while the directory or database with their passwords is away. */
const UNKNOWN: Ending = { ...PASSWORD, mayPass: true }

/** Whether a person ended the session, so that an immediate reconnect would be wrong. */
export const isDecided = (ending: Ending): boolean =>
  ending.kind !== 'lost' || ending.retryAfterSeconds === DECIDED_SECONDS

/** The meanings of stream errors (RFC 6120, 4.9.3) without a known text. */
const conditions: ReadonlyMap<string, Ending> = new Map<string, Ending>(
  Object.entries({
    conflict: decided('session_conflict'),
    'policy-violation': decided('policy_violation'),
    'not-authorized': decided('not_authorized'),
    'see-other-host': decided('server_moved'),
    'host-gone': starting('domain_gone'),
    'host-unknown': starting('domain_gone'),
    'resource-constraint': starting('server_overloaded'),
    'internal-server-error': starting('server_error'),
    'remote-connection-failed': starting('server_error'),
    'system-shutdown': soon('server_shutdown'),
    'connection-timeout': soon('network'),
    'bad-format': soon('protocol_error'),
    'bad-namespace-prefix': soon('protocol_error'),
    'improper-addressing': soon('protocol_error'),
    'invalid-from': soon('protocol_error'),
    'invalid-namespace': soon('protocol_error'),
    'invalid-xml': soon('protocol_error'),
    'not-well-formed': soon('protocol_error'),
    'restricted-xml': soon('protocol_error'),
    'unsupported-encoding': soon('protocol_error'),
    'unsupported-feature': soon('protocol_error'),
    'unsupported-stanza-type': soon('protocol_error'),
    'unsupported-version': soon('protocol_error'),
  }),
)

/**
 * The texts by which Prosody and ejabberd distinguish cases of one condition. ejabberd uses `conflict` also for other
 * ends of a session, with a text that its operator chose.
 */
const texts: readonly (readonly [condition: string, text: RegExp, ending: Ending])[] = [
  [
    'conflict',
    /\breplaced by\b|\banother (client|connection|resource|session)\b/i,
    { kind: 'replaced' },
  ],
  ['conflict', /^(the )?(account|user) (was |has been )?(deleted|removed|unregistered)/i, DELETED],
  ['conflict', /\S/, decided('session_kicked')],
  ['policy-violation', /\bkick/i, decided('session_kicked')],
  // The error concerns a single stanza, which is not sent again.
  ['policy-violation', /\btoo (big|large|long)\b/i, soon('stanza_refused')],
  ['not-authorized', /\b(account|user) (was |has been )?deleted/i, DELETED],
  [
    'not-authorized',
    /\b(account|user) (was |has been |is )?(disabled|locked|suspended)/i,
    DISABLED,
  ],
  ['not-authorized', /\bpassword/i, PASSWORD],
  ['reset', /\bpassword/i, PASSWORD],
  ['undefined-condition', /\bkick/i, decided('session_kicked')],
]

/** The meanings of login failures (RFC 6120, 6.5). */
const logins: ReadonlyMap<string, Ending> = new Map<string, Ending>(
  Object.entries({
    'account-disabled': DISABLED,
    'not-authorized': UNKNOWN,
    'credentials-expired': PASSWORD,
    'invalid-authzid': PASSWORD,
    'temporary-auth-failure': starting('login_unavailable'),
  }),
)

/** Certificate errors of OpenSSL and Node.js. */
const untrusted =
  /CERT|ISSUER|_SIGNATURE|CRL_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH/

/**
 * A conflict without a word that ends a stream in use (RFC 6120, 4.9.3.3): another client has bound its resource. One that
 * meets a login may be an older stream of this account's that the server has not given up yet.
 */
export const isReplacement = (cause: Error): boolean =>
  cause.name === 'StreamError' &&
  textOf(cause, 'condition') === 'conflict' &&
  textOf(cause, 'text') === ''

/** The meaning of the end of a connection; `lost` unless the server said more. */
export function endingOf(cause: unknown): Ending {
  if (!(cause instanceof Error)) return soon('network')
  if (cause instanceof TakenOver) return { kind: 'replaced' }
  if (cause instanceof NotStored) return NOT_STORED
  if (cause instanceof StorageAway) return soon('storage')
  if (cause instanceof EncryptionMissing) return soon('no_encryption')
  if (cause instanceof Oversized) return soon('oversized_stanza')
  if (cause instanceof ServerUnproven) return soon('server_unproven')
  const condition = textOf(cause, 'condition')
  if (cause.name === 'SASLError') return logins.get(condition) ?? decided('login_failed')
  if (cause.name === 'StreamError') return closedStream(condition, textOf(cause, 'text'))
  // The login succeeded, but the server opened no session: usually there are too many.
  if (cause.name === 'StanzaError') return starting('server_overloaded')
  const code = textOf(cause, 'code')
  if (untrusted.test(code)) return soon('bad_certificate')
  return soon(/^(ERR_SSL|EPROTO)/.test(code) ? 'tls_failed' : 'network')
}

function closedStream(condition: string, said: string): Ending {
  const told = texts.find(([name, text]) => name === condition && text.test(said))
  return told?.[2] ?? conditions.get(condition) ?? soon('stream_closed')
}

function textOf(cause: Error, name: 'condition' | 'text' | 'code'): string {
  const value: unknown = Reflect.get(cause, name)
  return typeof value === 'string' ? value : ''
}
