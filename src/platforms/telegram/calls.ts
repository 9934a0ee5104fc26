/** Requests to the network: each has a time limit, and an error that means the end of the session ends it. */

import { resolvePeer } from '@mtcute/core/methods.js'
import { getMarkedPeerId, PeersIndex, parseMarkedPeerId, type tl } from '@mtcute/node'
import { limited } from '../../../actors/host/time.ts'
import { failed, notFound, RequestFailed } from '../../../machines/model/failure.ts'
import { sessionOver } from '../kit/failures.ts'
import { type Ending, unlessAborted } from '../kit/session-life.ts'
import type { TelegramClient } from './client.ts'
import { closedBy, endingOf, isClosed, requestFailure, restrictionOf } from './failures.ts'
import { nativeOf } from './natives.ts'
import { PeerUnread } from './storage/peers.ts'

interface CallsOptions {
  readonly client: TelegramClient
  readonly milliseconds: number
  /** Aborts when the session is over. */
  readonly ending: AbortSignal
  ended(ending: Ending): void
  /** The account itself has done something. */
  acted(updates: AnswerUpdates): void
  /** The network refuses further requests of this kind for so many seconds. */
  limited(seconds: number): void
}

export interface CallOptions {
  readonly signal: AbortSignal
  /** The request changes nothing, so an uncertain outcome does no harm. */
  readonly readsOnly?: boolean
  /** The request sends: a restriction of it is one of the account. */
  readonly sends?: boolean
  readonly kind?: 'main' | 'upload' | 'download'
  readonly centre?: number
  /** Requests with the same key are executed in order. */
  readonly chain?: string
  /** Instead of the usual time limit. */
  readonly milliseconds?: number
}

/** The network's updates in an answer, with the people and chats that they name. */
export interface AnswerUpdates {
  readonly updates: readonly tl.TypeUpdate[]
  readonly peers: PeersIndex
}

/** The database's own failure says when to ask again. */
const unread = (cause: unknown): never => {
  throw cause instanceof PeerUnread && cause.cause instanceof RequestFailed ? cause.cause : cause
}

export class Calls {
  readonly client: TelegramClient
  readonly #options: CallsOptions

  constructor(options: CallsOptions) {
    this.client = options.client
    this.#options = options
  }

  /** Rejects with `RequestFailed`. */
  async call<Method extends tl.RpcMethod>(
    request: Method,
    options: CallOptions,
  ): Promise<tl.RpcCallReturn[Method['_']]> {
    return this.attempt(
      (abortSignal) =>
        this.client.call<tl.RpcMethod>(request, {
          abortSignal,
          kind: options.kind ?? 'main',
          ...(options.centre !== undefined && { dcId: options.centre }),
          ...(options.chain !== undefined && { chainId: options.chain }),
        }) as Promise<tl.RpcCallReturn[Method['_']]>,
      options,
    )
  }

  /** For what the library does in several requests. */
  async attempt<Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    { signal, readsOnly = false, sends = false, ...more }: CallOptions,
  ): Promise<Result> {
    const { ending } = this.#options
    const milliseconds = more.milliseconds ?? this.#options.milliseconds
    if (ending.aborted) throw sessionOver()
    try {
      // The library obeys the signal in most of its waits; here the wait ends in all of them.
      return await limited([signal, ending], milliseconds, (limit) =>
        unlessAborted(work(limit), limit),
      )
    } catch (cause) {
      const end = endingOf(cause)
      if (end) this.#options.ended(end)
      const seconds = restrictionOf(cause)
      if (seconds !== undefined && sends) this.#options.limited(seconds)
      throw requestFailure(cause, { readsOnly })
    }
  }

  /** Gives a question that the library asks by itself the time limit of every request. Rejects with the library's errors. */
  async inTime<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { ending, milliseconds } = this.#options
    return limited([ending], milliseconds, (limit) => unlessAborted(work(limit), limit))
  }

  /** Makes the network's reference of a person or a chat. */
  async peer(native: string, signal: AbortSignal): Promise<tl.TypeInputPeer> {
    const id = Number(native)
    if (!Number.isSafeInteger(id) || id === 0) throw notFound('chat')
    if (this.#options.ending.aborted) throw sessionOver()
    // Without the limits of a request; after an error the request looks again.
    const known = await this.client.storage.peers.getById(id).catch(() => null)
    if (known) return known
    return this.attempt(() => resolvePeer(this.client, id), { signal, readsOnly: true })
  }

  async channel(native: string, signal: AbortSignal): Promise<tl.RawInputChannel> {
    const peer = await this.peer(native, signal)
    if (peer._ === 'inputPeerChannel') {
      return { _: 'inputChannel', channelId: peer.channelId, accessHash: peer.accessHash }
    }
    throw failed('bad_request', 'method is available only for supergroups and channels')
  }

  /** Throws the error; where a chat is closed to the account, in the reference's words, which say what and why. */
  async refuse(native: string, cause: unknown): Promise<never> {
    const id = Number(native)
    if (!isClosed(cause) || id >= 0) throw cause
    const [kind, number] = parseMarkedPeerId(id)
    const peer: tl.TypePeer =
      kind === 'channel'
        ? { _: 'peerChannel', channelId: number }
        : { _: 'peerChat', chatId: number }
    const { chats } = await this.knownNow([peer])
    const chat = chats.get(number)
    const movedTo = chat?._ === 'chat' ? chat.migratedTo : undefined
    if (movedTo?._ !== 'inputChannel') throw closedBy(chat, cause)
    const { channelId } = movedTo
    const migrateToChatId = Number(nativeOf({ _: 'peerChannel', channelId }))
    const description = 'group chat was upgraded to a supergroup chat'
    throw failed('bad_request', description, { migrateToChatId }, { cause })
  }

  /** A person in a chat: an unknown one is refused as a user, not as a chat. */
  async person(native: string, signal: AbortSignal): Promise<tl.TypeInputPeer> {
    try {
      return await this.peer(native, signal)
    } catch (cause) {
      const isUnknown = cause instanceof RequestFailed && cause.failure.reason === 'chat_not_found'
      throw isUnknown ? notFound('user') : cause
    }
  }

  async user(native: string, signal: AbortSignal): Promise<tl.TypeInputUser> {
    const peer = await this.person(native, signal)
    switch (peer._) {
      case 'inputPeerSelf':
        return { _: 'inputUserSelf' }
      case 'inputPeerUser':
        return { _: 'inputUser', userId: peer.userId, accessHash: peer.accessHash }
      case 'inputPeerUserFromMessage':
        return { ...peer, _: 'inputUserFromMessage' }
      default:
        throw notFound('user')
    }
  }

  /** As `known`, and nobody while the database is away: for what is done or refused already, so that its outcome is told. */
  knownNow(peers: readonly tl.TypePeer[]): Promise<PeersIndex> {
    return this.known(peers).catch((cause) => {
      if (cause instanceof RequestFailed || cause instanceof PeerUnread) return new PeersIndex()
      throw cause
    })
  }

  /** The stored people and chats among these, without a request. Rejects with `RequestFailed` while the database is away. */
  async known(peers: readonly tl.TypePeer[]): Promise<PeersIndex> {
    const index = new PeersIndex()
    const { peers: stored } = this.client.storage
    for (const peer of peers) {
      const found = await stored.getCompleteById(getMarkedPeerId(peer), true).catch(unread)
      if (!found) continue
      if (peer._ === 'peerUser') index.users.set(peer.userId, found as tl.TypeUser)
      else index.chats.set(found.id, found as tl.TypeChat)
    }
    return index
  }

  /** Updates in the answer to the account's own request are counted, but not reported. */
  take(result: tl.TypeUpdates): AnswerUpdates {
    if (result._ === 'updateShortSentMessage') {
      this.count(result.pts, result.ptsCount)
      return { updates: [], peers: new PeersIndex() }
    }
    this.client.handleClientUpdate(result, true)
    if (result._ === 'updates' || result._ === 'updatesCombined') {
      const found = { updates: result.updates, peers: PeersIndex.from(result) }
      this.#options.acted(found)
      return found
    }
    const updates = result._ === 'updateShort' ? [result.update] : []
    return { updates, peers: new PeersIndex() }
  }

  /** Events that the network only counted. */
  count(pts: number, ptsCount: number, channelId = 0): void {
    const counted = { _: 'mtcute.dummyUpdate', channelId, pts, ptsCount }
    const updates = [counted as unknown as tl.TypeUpdate]
    const container = { _: 'updates', updates, users: [], chats: [], date: 0, seq: 0 } as const
    this.client.handleClientUpdate({ ...container, users: [], chats: [] }, true)
  }
}
