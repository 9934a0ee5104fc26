/** The meaning of the network's refusals: for a request, and for the session. */

import { MtPeerNotFoundError, MtTimeoutError, tl } from '@mtcute/node'
import {
  failed,
  messageNotAllowed,
  messageTooLong,
  notFound,
  RequestFailed,
} from '../../../machines/model/failure.ts'
import { isImpatience, reconnecting } from '../kit/failures.ts'
import type { Ending } from '../kit/session-life.ts'

/** Unlike other ends it does not say who did it: a data centre that is out of order may give it, too. */
export const UNKNOWN_KEY: Ending = { kind: 'revoked', reason: 'session_revoked', mayPass: true }

const endings: Readonly<Record<string, Ending>> = {
  AUTH_KEY_UNREGISTERED: UNKNOWN_KEY,
  AUTH_KEY_INVALID: { kind: 'revoked', reason: 'session_revoked' },
  SESSION_REVOKED: { kind: 'revoked', reason: 'session_revoked' },
  SESSION_EXPIRED: { kind: 'revoked', reason: 'session_expired' },
  SESSION_PASSWORD_NEEDED: { kind: 'revoked', reason: 'password_needed' },
  // The network saw the same key used at two places at once, and has revoked it.
  AUTH_KEY_DUPLICATED: { kind: 'revoked', reason: 'session_duplicated' },
  USER_DEACTIVATED: { kind: 'invalid', reason: 'account_deleted' },
  USER_DEACTIVATED_BAN: { kind: 'invalid', reason: 'account_banned' },
}

/** The library's own check throws where there is no error at all. */
const isRefusal = (cause: unknown): cause is tl.RpcError =>
  cause instanceof Error && tl.RpcError.is(cause)

/** The network's error code, such as `PEER_ID_INVALID`; undefined for other errors. */
export const wordOf = (cause: unknown): string | undefined =>
  isRefusal(cause) ? cause.text : undefined

/** The network's error code behind the failure of a request. */
export const refusalOf = (cause: unknown): string | undefined =>
  wordOf(cause instanceof RequestFailed ? cause.cause : cause)

/** Undefined while the session can go on. */
export function endingOf(cause: unknown): Ending | undefined {
  return endings[wordOf(cause) ?? '']
}

/** Seconds for which the network refuses requests. */
export function waitOf(cause: unknown): number | undefined {
  const isWait = isRefusal(cause) && /_WAIT_%d$/.test(cause.text)
  if (!isWait || !('seconds' in cause)) return undefined
  return Math.max(1, Number(cause.seconds))
}

/** The same if it concerns the whole account: the slow mode of a group does not count elsewhere. */
export const restrictionOf = (cause: unknown): number | undefined =>
  wordOf(cause)?.startsWith('SLOWMODE_') ? undefined : waitOf(cause)

const bad = (description: string, cause?: unknown) =>
  failed('bad_request', description, {}, { cause })
const noChat = () => notFound('chat')
const noUser = () => notFound('user')
const forbidden = (description: string, cause?: unknown) =>
  failed('forbidden', description, {}, { cause })

const refusals: Readonly<Record<string, () => RequestFailed>> = {
  PEER_ID_INVALID: noChat,
  CHAT_ID_INVALID: noChat,
  CHANNEL_INVALID: noChat,
  USERNAME_INVALID: noChat,
  USERNAME_NOT_OCCUPIED: noChat,
  USER_ID_INVALID: noUser,
  PARTICIPANT_ID_INVALID: noUser,
  USER_NOT_PARTICIPANT: noUser,
  PHONE_NOT_OCCUPIED: noUser,
  INPUT_USER_DEACTIVATED: () =>
    failed('forbidden', 'user is deactivated', { reason: 'user_deactivated' }),
  CHANNEL_PRIVATE: () => forbidden('the account is not a member of the chat'),
  CHAT_FORBIDDEN: () => forbidden('the account is not a member of the chat'),
  USER_BANNED_IN_CHANNEL: () => forbidden('the network keeps the account from writing there'),
  PEER_FLOOD: () => forbidden('the network keeps the account from writing to strangers'),
  YOU_BLOCKED_USER: () => forbidden('the account has blocked the user'),
  USER_IS_BLOCKED: () => forbidden('the account was blocked by the user'),
  USER_PRIVACY_RESTRICTED: () => forbidden("the user's privacy settings do not allow it"),
  CHAT_ADMIN_REQUIRED: () => bad('not enough rights'),
  RIGHT_FORBIDDEN: () => bad('not enough rights'),
  USER_ADMIN_INVALID: () => bad('user is an administrator of the chat'),
  MESSAGE_TOO_LONG: () => messageTooLong(),
  MEDIA_CAPTION_TOO_LONG: () => messageTooLong('message caption is too long'),
  MESSAGE_EMPTY: () => bad('message text is empty'),
  MESSAGE_EDIT_TIME_EXPIRED: () => messageNotAllowed("message can't be edited"),
  MESSAGE_AUTHOR_REQUIRED: () => messageNotAllowed("message can't be edited"),
  MESSAGE_DELETE_FORBIDDEN: () => messageNotAllowed("message can't be deleted"),
  CHAT_FORWARDS_RESTRICTED: () => messageNotAllowed("message can't be forwarded"),
  MESSAGE_NOT_MODIFIED: () =>
    bad(
      'message is not modified: specified new message content and reply markup are exactly the ' +
        'same as a current content and reply markup of the message',
    ),
  STORY_ID_INVALID: () => notFound('story'),
  TOPIC_DELETED: () => notFound('message thread'),
  CHANNEL_FORUM_MISSING: () => bad('the chat is not a forum'),
  FILE_REFERENCE_EXPIRED: () => bad('the file is no longer available'),
  FILE_ID_INVALID: () => bad('the file is no longer available'),
}

/** The failure of a request. `readsOnly`: an unknown outcome does no harm. */
export function requestFailure(cause: unknown, { readsOnly = false } = {}): RequestFailed {
  if (cause instanceof RequestFailed) return cause
  if (cause instanceof MtPeerNotFoundError) return noChat()
  const retryAfterSeconds = waitOf(cause)
  if (retryAfterSeconds !== undefined) return failed('rate_limited', '', { retryAfterSeconds })
  const uncertain = readsOnly ? {} : ({ certain: false } as const)
  if (isRefusal(cause)) return refused(cause, uncertain)
  if (cause instanceof MtTimeoutError || isImpatience(cause)) {
    const remark = readsOnly ? '' : '; the message may have been sent'
    return failed('timeout', `Telegram did not answer in time${remark}`, uncertain, { cause })
  }
  return reconnecting(cause, uncertain)
}

function refused(cause: tl.RpcError, uncertain: { readonly certain?: false }): RequestFailed {
  const { code, text } = cause
  const known = refusals[text]
  if (known) return known()
  if (code === 403 || /_FORBIDDEN$/.test(text)) {
    return forbidden(`not enough rights to write to the chat (${text})`, cause)
  }
  if (code === 401) {
    return failed('unavailable', 'the account is signed out', { retryAfterSeconds: 5 }, { cause })
  }
  if (code >= 500 || code < 0) {
    // It failed within, perhaps after it had done it; one of these errors even says that it was done before.
    const remark = uncertain.certain === false ? '; it may have been done' : ''
    return failed('bad_gateway', `Telegram failed: ${text}${remark}`, uncertain, { cause })
  }
  return bad(text, cause)
}
