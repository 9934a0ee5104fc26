/** Explains in English why a credential does not work, with the remedy of each reason. */

import type { FindingCode, Sentence } from '../../machines/diagnosis/facts.ts'
import type { Failure, FailureCode } from '../../machines/model/protocol.ts'
import type { LinkReason, Reason } from '../../machines/model/reason.ts'

/** Why nothing comes for an account any more, and since when (milliseconds). */
export interface Out {
  readonly failure: Failure
  readonly since: number
}

export const outError = ({ failure, since }: Out) => ({
  at: Math.floor(since / 1000),
  message: `Forbidden: ${failure.description}`,
})

/** Why a test message was not sent, and what to do: the same in health tests and in diagnoses. */
interface SendingRefusal {
  /** For programs. */
  readonly code: FindingCode
  readonly seen: Sentence
  readonly remedy: Sentence
}

const UNREACHED: readonly FailureCode[] = ['unavailable', 'timeout', 'bad_gateway', 'internal']

export function sendingRefusal(failure: Failure): SendingRefusal {
  const { code, certain, retryAfterSeconds, reason } = failure
  if (certain === false) {
    const remedy = { code: 'look_before_sending', params: {} } as const
    return { code: 'outcome_unknown', seen: refusalOf(failure, ''), remedy }
  }
  if (code === 'rate_limited') {
    const seen = { code: 'restricted', params: { count: retryAfterSeconds ?? 1 } } as const
    return { code: 'flood_wait', seen, remedy: { code: 'send_less', params: {} } }
  }
  const shown = reason === 'chat_not_found' ? reason : code
  return { code: shown, seen: refusalOf(failure, code), remedy: remedyOf(code) }
}

/** The English text of a failure; `otherwise` if it has none. */
export const refusalOf = ({ description, reason }: Failure, otherwise: string): Sentence => ({
  code: 'refusal',
  params: { refusal: description || otherwise, ...(reason !== undefined && { reason }) },
})

function remedyOf(code: FailureCode): Sentence {
  if (UNREACHED.includes(code)) return { code: 'wait', params: {} }
  return code === 'forbidden'
    ? { code: 'check_account', params: {} }
    : { code: 'check_chat', params: {} }
}

interface Remedy {
  readonly remedy: string
  /** No share of the account allows it. */
  readonly isOfOwner?: true
}

interface Explained extends Remedy {
  readonly text: string
}

const LINK_AGAIN = {
  remedy: 'Link the account again with POST /platforms/{platform}/link/start',
  isOfOwner: true,
} as const
const WAIT = 'Wait: the service keeps trying by itself'
const SLOW =
  'Wait: it is tried again every five minutes; if it comes back, ask whoever runs the platform'
const CONTACT = 'Contact the platform: nothing here can undo it'
const RESTART = 'Restart it with POST /platforms/credentials/{credential_id}/restart'

const NOT_SET_UP: Explained = {
  text: 'The platform is not set up on this server',
  remedy: 'Ask whoever runs the server to set the platform up',
}

const reasons: Readonly<Record<Reason, Explained>> = {
  network: { text: 'The platform cannot be reached', remedy: WAIT },
  bad_answer: {
    text: 'What answers for the platform is not its API, or has an error of its own',
    remedy: WAIT,
  },
  bad_certificate: {
    text: 'The certificate of the platform is not to be trusted',
    remedy: `${WAIT}; if it lasts, whoever runs the platform has to renew it`,
  },
  no_encryption: {
    text: 'The platform offers no encryption',
    remedy: 'Whoever runs the platform has to turn encryption on',
  },
  server_unproven: {
    text: 'The platform did not prove that it knows the password',
    remedy: 'Make sure that the address is the right one: somebody may stand in between',
  },
  no_traffic: {
    text: 'The connection stands, but nothing comes through it',
    remedy: `${WAIT}; if it lasts, the platform has a disturbance`,
  },
  flood_wait: {
    text: 'The platform restricts the account because it sent too much',
    remedy: 'Wait until the restriction ends, and send less',
  },
  session_revoked: { text: 'The session was ended on the platform', ...LINK_AGAIN },
  session_expired: { text: 'The session has expired on the platform', ...LINK_AGAIN },
  session_duplicated: {
    text: 'The platform ended the session: it was in use at two places at once',
    ...LINK_AGAIN,
  },
  password_needed: {
    text: 'The platform asks for the password of the account',
    ...LINK_AGAIN,
  },
  account_banned: { text: 'The platform has banned the account', remedy: CONTACT },
  replaced_elsewhere: {
    text: 'Another client took the session over',
    remedy: `It is tried once more after five minutes. End the other client, then link again or restart. ${RESTART}`,
    isOfOwner: true,
  },
  webhook_set: {
    text: 'The bot delivers its updates to a webhook of its own on the platform',
    remedy:
      'Delete the webhook there with deleteWebhook, or link the bot again with "delete_webhook": "true"; it is tried again every minute',
    isOfOwner: true,
  },
  secrets_unreadable: {
    text: 'What is stored of the session cannot be read',
    ...LINK_AGAIN,
  },
  crashed: {
    text: 'The account crashed; it is started again in a moment',
    remedy: `${WAIT}; report it if it comes back`,
  },
  crash_loop: {
    text: 'The account crashed again and again; it is tried every five minutes',
    remedy: `${RESTART}, and report it if it comes back`,
    isOfOwner: true,
  },
  platform_unavailable: NOT_SET_UP,
  not_configured: NOT_SET_UP,
  session_kicked: { text: 'An operator of the platform ended the session', remedy: SLOW },
  session_conflict: {
    text: 'The platform ended the session for the sake of another one',
    remedy: SLOW,
  },
  policy_violation: { text: 'The platform says that the account broke a rule of it', remedy: SLOW },
  not_authorized: { text: 'The platform no longer takes the account for signed in', remedy: SLOW },
  server_moved: { text: 'The server of the account refers to another address', remedy: SLOW },
  login_failed: {
    text: 'The platform refused the login for another cause than the password',
    remedy: SLOW,
  },
  login_unavailable: { text: 'The platform cannot check passwords now', remedy: WAIT },
  domain_gone: { text: 'The server does not serve the domain of the account', remedy: WAIT },
  server_shutdown: { text: 'The server of the account was stopped', remedy: WAIT },
  server_overloaded: { text: 'The server of the account has too much to do', remedy: WAIT },
  server_error: { text: 'The server of the account has an error of its own', remedy: WAIT },
  protocol_error: {
    text: 'The server of the account did not understand what it was sent',
    remedy: WAIT,
  },
  stream_closed: { text: 'The server of the account closed the connection', remedy: WAIT },
  stanza_refused: {
    text: 'The server of the account refused a message as too large',
    remedy: WAIT,
  },
  oversized_stanza: {
    text: 'The server of the account sent more at once than is taken',
    remedy: WAIT,
  },
  tls_failed: { text: 'No encrypted connection to the platform came about', remedy: WAIT },
  password_changed: { text: 'The password of the account was changed', ...LINK_AGAIN },
  account_deleted: { text: 'The account was deleted on the platform', remedy: CONTACT },
  account_disabled: { text: 'The account is disabled on the platform', remedy: CONTACT },
  events_not_stored: { text: 'Events could not be stored', remedy: WAIT },
  storage: { text: 'The database of the service does not answer', remedy: WAIT },
}

const waiting: Remedy = { remedy: WAIT }

const actions: Readonly<Record<string, Remedy>> = {
  none: waiting,
  wait: waiting,
  link_again: LINK_AGAIN,
  restart: { remedy: RESTART, isOfOwner: true },
  contact_platform: { remedy: 'Contact the platform' },
}

/**
 * The reason that a row holds. A row of another version may hold a word that this version does not know: it goes
 * through as it is, and `explained` and the panel show it as it is.
 */
export const storedReason = <Stored extends LinkReason = Reason>(
  word: string | null,
): Stored | undefined => (word ?? undefined) as Stored | undefined

/** The fault of an account that does not work, as a code for programs: its reason, else its state. */
export const troubleOf = (reason: string | null, state: string): FindingCode =>
  (reason ?? state) as FindingCode

/** The meaning of `reason` and the remedy; a word of another version is shown as it is. */
export function explained(reason: string | null, action: string): Explained {
  if (reason !== null && isKnown(reason)) return reasons[reason]
  const text = reason === null ? 'The account is connecting' : `The platform says: ${reason}`
  return { text, ...(actions[action] ?? waiting) }
}

const isKnown = (reason: string): reason is Reason => Object.hasOwn(reasons, reason)
