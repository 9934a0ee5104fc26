/** The meaning of the network's refusals: for a request, and for the session. */

import type { RpcCallMiddleware } from '@mtcute/core'
import type { TlBinaryReader } from '@mtcute/core/utils.js'
import { type Long, MtPeerNotFoundError, MtTimeoutError, SessionConnection, tl } from '@mtcute/node'
import type { Surface } from '../../../machines/model/content.ts'
import {
  failed,
  messageNotAllowed,
  messageTooLong,
  notFound,
  RequestFailed,
} from '../../../machines/model/failure.ts'
import { isImpatience, reconnecting, wrongFile } from '../kit/failures.ts'
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

/** The answer of which the library makes that error. */
interface Refused {
  readonly _: 'mt_rpc_error'
  readonly errorCode: number
}

const isRefused = (answer: unknown): answer is Refused =>
  typeof answer === 'object' && answer !== null && '_' in answer && answer._ === 'mt_rpc_error'

/** In place of an answer that the library cannot read. */
export const UNREADABLE = 'ANSWER_UNREADABLE'

/** What the network said, or answered to a request, cannot be read: it is newer than the library, or broken. */
export class Unreadable extends Error {
  readonly method: string | undefined

  constructor(method: string | undefined, cause: unknown) {
    super(cause instanceof Error ? cause.message : 'it is no object', { cause })
    this.method = method
  }
}

const RPC_ERROR = 0x2144ca19

/** What the library does not declare of its connections. */
interface Hearing {
  readonly _session: {
    readonly pendingMessages: {
      get(id: Long): { readonly rpc?: { readonly method: string } } | undefined
    }
  }
  readonly params: {
    readonly disableUpdates?: boolean
    readonly isMainConnection: boolean
    readonly isMainDcConnection: boolean
  }
  readonly onError: { emit(cause: Error): void }
  readonly onUpdate: { emit(update: { readonly _: 'updatesTooLong' }): void }
  _handleRawMessage(messageId: Long, sequence: number, message: TlBinaryReader): void
  _onRpcResult(messageId: Long, message: TlBinaryReader): void
  _sendAck(messageId: Long): void
}

/**
 * What cannot be read, the library asks for again without end, or waits for without end, and the rest of its packet is lost.
 * Here a request is refused with it, and for an update what was missed is asked.
 */
export function bearUnreadable(): void {
  const connections = SessionConnection.prototype as unknown as Hearing
  const { _onRpcResult: take, _handleRawMessage: hear } = connections
  connections._onRpcResult = function (messageId, message) {
    const { pos } = message
    try {
      take.call(this, messageId, message)
    } catch (cause) {
      message.pos = pos
      const id = message.long()
      const { rpc } = this._session.pendingMessages.get(id) ?? {}
      if (!rpc) throw cause
      this.onError.emit(new Unreadable(rpc.method, cause))
      const refusal = { _: 'mt_rpc_error', errorCode: 500, errorMessage: UNREADABLE }
      const told = { long: () => id, peekUint: () => RPC_ERROR, object: () => refusal }
      take.call(this, messageId, told as unknown as TlBinaryReader)
    }
  }
  connections._handleRawMessage = function (messageId, sequence, message) {
    try {
      hear.call(this, messageId, sequence, message)
    } catch (cause) {
      if (sequence % 2 === 1) this._sendAck(messageId)
      const { disableUpdates, isMainConnection, isMainDcConnection } = this.params
      // Of other connections, such as those for files, the library takes no updates.
      const hears = !disableUpdates && isMainConnection && isMainDcConnection
      this.onError.emit(new Unreadable(hears ? undefined : 'notice', cause))
      if (hears) this.onUpdate.emit({ _: 'updatesTooLong' })
    }
  }
}

/** So often a message is sent again at once: its salt and then its time may be wrong. */
const AT_ONCE = 2
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/** How often the network has objected to a request: in the request itself, which ends with it. */
const objections = Symbol('objections')

interface Request {
  [objections]?: number
  readonly chainId?: string
  readonly cancelled?: boolean
}

/** What the library does not declare of its messages. */
interface Sending {
  readonly _session: {
    readonly pendingMessages: { get(id: Long): { readonly rpc?: Request } | undefined }
    readonly getStateSchedule: { remove(rpc: Request): void }
    readonly chains: { delete(chain: string): void }
  }
  _onMessageFailed(id: Long, reason: string, isInContainer?: boolean): void
  _processPendingChainedFails(chain: string, since: Long): void
}

/** What the network objects to, the library sends again at once, without end. */
export function pauseResending(): void {
  const connections = SessionConnection.prototype as unknown as Sending
  const { _onMessageFailed: resend } = connections
  connections._onMessageFailed = function (id, reason, isInContainer) {
    const { rpc } = this._session.pendingMessages.get(id) ?? {}
    const again = () => resend.call(this, id, reason, isInContainer)
    // That one waited for a refused request and waits no more: it does not fail so without end, and later ones may not overtake it.
    if (!rpc || reason === 'MSG_WAIT_FAILED') return again()
    const count = (rpc[objections] ?? 0) + 1
    rpc[objections] = count
    if (count <= AT_ONCE) return again()
    this._session.getStateSchedule.remove(rpc)
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** (count - AT_ONCE - 1), LONGEST_PAUSE_MS)
    const { chainId } = rpc
    const send = () => {
      // By then it may have been answered, or the connection may be another: nothing waits under this id.
      const isOver = this._session.pendingMessages.get(id)?.rpc !== rpc
      if (isOver && !rpc.cancelled) return
      if (chainId === undefined) return again()
      this._session.chains.delete(chainId)
      again()
      // The requests after it wait for the one with this id, which is never answered.
      this._processPendingChainedFails(chainId, id)
    }
    setTimeout(send, pause).unref()
  }
}

/** The network's error code, such as `PEER_ID_INVALID`; undefined for other errors. */
export const wordOf = (cause: unknown): string | undefined =>
  isRefusal(cause) ? cause.text : undefined

/** The network's error code behind the failure of a request. */
export const refusalOf = (cause: unknown): string | undefined =>
  wordOf(cause instanceof RequestFailed ? cause.cause : cause)

/** Whether the answer cannot be read. */
export const isUnreadable = (cause: unknown): boolean => refusalOf(cause) === UNREADABLE

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

const outside = (kind: Exclude<Surface, 'private'>, cause: unknown) =>
  forbidden(`bot is not a member of the ${kind} chat`, cause)

const refusals: Readonly<Record<string, (cause: unknown) => RequestFailed>> = {
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
  CHANNEL_PRIVATE: (cause) => outside('supergroup', cause),
  CHAT_FORBIDDEN: (cause) => outside('group', cause),
  USER_IS_BLOCKED: () => forbidden('bot was blocked by the user'),
  MESSAGE_TOO_LONG: () => messageTooLong(),
  MEDIA_CAPTION_TOO_LONG: () => messageTooLong('message caption is too long'),
  MESSAGE_EDIT_TIME_EXPIRED: () => messageNotAllowed("message can't be edited"),
  MESSAGE_AUTHOR_REQUIRED: () => messageNotAllowed("message can't be edited"),
  MESSAGE_DELETE_FORBIDDEN: () => messageNotAllowed("message can't be deleted"),
  CHAT_FORWARDS_RESTRICTED: () =>
    messageNotAllowed("message has protected content and can't be forwarded"),
  MEDIA_EMPTY: wrongFile,
  STORY_ID_INVALID: () => notFound('story'),
  TOPIC_DELETED: () => notFound('message thread'),
}

/** Bots look for the reference's sentences. The last ones are ours: it knows no accounts of people. */
const sentences: Readonly<Record<string, string>> = {
  CHAT_ADMIN_REQUIRED: 'not enough rights',
  RIGHT_FORBIDDEN: 'not enough rights',
  CHAT_WRITE_FORBIDDEN: 'have no write access to the chat',
  USER_ADMIN_INVALID: 'user is an administrator of the chat',
  MESSAGE_EMPTY: 'message text is empty',
  MESSAGE_NOT_MODIFIED:
    'message is not modified: specified new message content and reply markup are exactly the ' +
    'same as a current content and reply markup of the message',
  CHAT_ABOUT_NOT_MODIFIED: 'chat description is not modified',
  MEDIA_GROUPED_INVALID: "can't use the media of the specified type in the album",
  EXTENDED_MEDIA_INVALID: 'invalid paid media file specified',
  PHOTO_EXT_INVALID:
    'photo has unsupported extension. Use one of .jpg, .jpeg, .gif, .png, .tif or .bmp',
  REPLY_TO_MONOFORUM_PEER_INVALID: 'wrong direct messages topic identifier specified',
  PACK_SHORT_NAME_INVALID: 'invalid sticker set name is specified',
  PACK_SHORT_NAME_OCCUPIED: 'sticker set name is already occupied',
  STICKER_EMOJI_INVALID: 'invalid sticker emojis',
  CHANNEL_FORUM_MISSING: 'the chat is not a forum',
  FILE_REFERENCE_EXPIRED: 'the file is no longer available',
  FILE_ID_INVALID: 'the file is no longer available',
  USER_BANNED_IN_CHANNEL: 'the network keeps the account from writing there',
  PEER_FLOOD: 'the network keeps the account from writing to strangers',
  YOU_BLOCKED_USER: 'the account has blocked the user',
  USER_PRIVACY_RESTRICTED: "the user's privacy settings do not allow it",
}

/** What a chat may keep its members from sending, by the network's name for it. */
const WITHHELD: Readonly<Record<string, string>> = {
  PLAIN: 'text messages',
  PHOTOS: 'photos',
  VIDEOS: 'videos',
  ROUNDVIDEOS: 'video notes',
  VOICES: 'voice notes',
  AUDIOS: 'music',
  DOCS: 'documents',
  GIFS: 'animations',
  STICKERS: 'stickers',
  POLL: 'polls',
  GAME: 'games',
  INLINE: 'inline results',
}

function sentenceOf(word: string): string {
  const withheld = WITHHELD[/^CHAT_SEND_(\w+)_FORBIDDEN$/.exec(word)?.[1] ?? '']
  if (withheld !== undefined) return `not enough rights to send ${withheld} to the chat`
  return sentences[word] ?? word
}

/** The network's words for a chat that the account cannot write to, whether or not it is in there. */
const CLOSED = ['CHANNEL_PRIVATE', 'CHAT_FORBIDDEN', 'CHAT_WRITE_FORBIDDEN']

/** Whether the account cannot read there, or cannot write. */
export const isShut = (cause: unknown): boolean => CLOSED.includes(refusalOf(cause) ?? '')

/** Whether the chat itself turned a request away. */
export const isClosed = (cause: unknown): boolean =>
  isShut(cause) || (cause instanceof RequestFailed && cause.failure.reason === 'chat_not_found')

/** The same failure in the words of the reference, which depend on what the chat is and whether the account is in it. */
export function closedBy(chat: tl.TypeChat | undefined, cause: unknown): unknown {
  const word = refusalOf(cause)
  if (!chat || word === undefined) return cause
  const isChannel = chat._ === 'channel' || chat._ === 'channelForbidden'
  const broadcast = isChannel && chat.broadcast === true
  const kind = broadcast ? 'channel' : isChannel ? 'supergroup' : 'group'
  if (chat._ === 'channelForbidden' || chat._ === 'chatForbidden') {
    return forbidden(`bot was kicked from the ${kind} chat`, cause)
  }
  if (word !== 'CHAT_WRITE_FORBIDDEN' || ('left' in chat && chat.left)) return outside(kind, cause)
  if (!broadcast) return cause
  const description = 'need administrator rights in the channel chat'
  return failed('bad_request', description, { reason: 'channel_admin_needed' }, { cause })
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
  if (known) return known(cause)
  if (code === 401) {
    return failed('unavailable', 'the account is signed out', { retryAfterSeconds: 5 }, { cause })
  }
  if (code >= 500 || code < 0) {
    // It failed within, perhaps after it had done it; one of these errors even says that it was done before.
    const remark = uncertain.certain === false ? '; it may have been done' : ''
    return failed('bad_gateway', `Telegram failed: ${text}${remark}`, uncertain, { cause })
  }
  return bad(sentenceOf(text), cause)
}

/** What a request that changes something may be refused with. The other refusals end the session. */
const REFUSALS = new Set([400, 403, 420])
/** Signing in has answers of its own to what was done before. */
const READS = /^auth\.|\.(get|search|check|resolve)/

/**
 * The library repeats what fails within the network. What it is then refused with may come of the first time, at which all
 * was done: the failure of that is the answer. `note` sees each time, `judge` what comes of them.
 */
export function doubting(): {
  readonly judge: RpcCallMiddleware
  readonly note: RpcCallMiddleware
} {
  const failures = new Map<object, unknown>()
  return {
    async judge(context, next) {
      try {
        const answer = await next(context)
        const failure = failures.get(context)
        return failure && isRefused(answer) && REFUSALS.has(answer.errorCode) ? failure : answer
      } finally {
        failures.delete(context)
      }
    },
    async note(context, next) {
      const answer = await next(context)
      const isFailure = isRefused(answer) && (answer.errorCode >= 500 || answer.errorCode < 0)
      if (isFailure && !READS.test(context.request._)) failures.set(context, answer)
      return answer
    },
  }
}
