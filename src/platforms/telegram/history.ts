/** Reads the messages of chats since a known one, up to a limit, in the form of the network's own updates. */
import { Long, type tl } from '@mtcute/node'
import type { LinkedAccount } from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import { RequestFailed } from '../../../machines/model/failure.ts'
import { readPages } from '../kit/pages.ts'
import { type Restriction, steadily } from '../kit/steadily.ts'
import type { Calls } from './calls.ts'
import type { TelegramClient } from './client.ts'
import { isUnreadable } from './failures.ts'
import type { ExistingMessage } from './find-message.ts'
import type { UpdateState } from './storage/update-state.ts'

/** How many messages are read after a gap that is too long. */
export interface RecoveryBounds {
  readonly ofChat: number
  readonly inAll: number
}

/** The last known message. Without one, messages since `date` count. */
export interface Since {
  readonly message: number | undefined
  /** Unix time in seconds. */
  readonly date: number
  /** When the account joined the chat, if the network says it: older messages were not missed. */
  readonly joined?: number
}

interface Listed {
  readonly newMessages: tl.TypeMessage[]
  readonly chats: tl.TypeChat[]
  readonly users: tl.TypeUser[]
}

/** Learns of the messages that were read or skipped. */
interface Teller {
  readonly logger: Logger
  skipped(what: 'messages' | 'changes'): void
}

export interface RecoveryOptions extends Teller {
  readonly client: TelegramClient
  readonly calls: Calls
  readonly state: UpdateState
  readonly account: Pick<LinkedAccount, 'recoversChannels'>
  readonly bounds: RecoveryBounds
  /** Aborts when the session is over. */
  readonly ending: AbortSignal
}

type Page = Pick<tl.messages.RawMessages, 'messages' | 'chats' | 'users'>

const PAGE = 100
/** The longest wait between two pages that the network may ask for. */
const PATIENCE_SECONDS = 60

export class History {
  /** Chats that could not be read completely. */
  readonly skipped = new Set<string>()
  readonly #calls: Calls
  readonly #bounds: RecoveryBounds
  readonly #signal: AbortSignal
  readonly #messages: ExistingMessage[] = []
  readonly #chats = new Map<number, tl.TypeChat>()
  readonly #users = new Map<number, tl.TypeUser>()

  constructor(calls: Calls, bounds: RecoveryBounds, signal: AbortSignal) {
    this.#calls = calls
    this.#bounds = bounds
    this.#signal = signal
  }

  /** Rejects if the network may still answer later: then the checkpoint must not move. */
  async read(native: string, since: Since): Promise<void> {
    const { ofChat, inAll } = this.#bounds
    const most = Math.min(ofChat, inAll - this.#messages.length)
    if (most <= 0) {
      this.skipped.add(native)
      return
    }
    const found: ExistingMessage[] = []
    let isWhole = false
    try {
      const peer = await this.#calls.peer(native, this.#signal)
      const read = async (offsetId: number) => {
        const page: Page = await this.#page(peer, offsetId, since)
        const written = page.messages.filter(
          (one): one is ExistingMessage => one._ !== 'messageEmpty',
        )
        const missed = written.filter((one) => isMissed(one, since))
        found.push(...missed)
        // What is newer than the last known message and was left out may be from before the account left.
        const { message: known = Number.POSITIVE_INFINITY } = since
        if (written.some((one) => one.id > known && !isMissed(one, since))) this.skipped.add(native)
        for (const chat of page.chats) this.#chats.set(chat.id, chat)
        for (const user of page.users) this.#users.set(user.id, user)
        return {
          keys: missed.map(({ id }) => `${id}`),
          isLast: page.messages.length < PAGE || missed.length < written.length,
          next: () => found.at(-1)?.id ?? 0,
        }
      }
      isWhole = (await readPages(0, read, { most })).isWhole
    } catch (cause) {
      if (!isRefused(cause)) throw cause
    }
    if (!isWhole || found.length > most) this.skipped.add(native)
    this.#messages.push(...found.slice(0, most))
  }

  /** Reports how much was read, and which chats were skipped. */
  tell({ logger, skipped }: Teller): void {
    const messages = this.#messages.length
    logger.info({ messages }, 'messages of a gap that was too long were read from the chats')
    if (this.skipped.size === 0) return
    const chats = [...this.skipped]
    logger.warn({ chats }, 'older messages of a gap that was too long were skipped')
    skipped('messages')
  }

  /** In the network's order: messages of private chats and small groups are numbered together. */
  listed(): Listed {
    return {
      newMessages: this.#messages.toSorted((one, other) => one.id - other.id),
      chats: [...this.#chats.values()],
      users: [...this.#users.values()],
    }
  }

  async #page(
    peer: tl.TypeInputPeer,
    offsetId: number,
    { message: minId = 0 }: Since,
  ): Promise<Page> {
    const request = {
      _: 'messages.getHistory',
      peer,
      offsetId,
      offsetDate: 0,
      addOffset: 0,
      limit: PAGE,
      maxId: 0,
      minId,
      hash: Long.ZERO,
    } as const
    const signal = this.#signal
    const ask = () => this.#calls.call(request, { signal, readsOnly: true })
    const page = await steadily(ask, { signal, endingOf: shortWait })
    if (page._ !== 'messages.messagesNotModified') return page
    return { messages: [], chats: [], users: [] }
  }
}

function shortWait(cause: unknown): Restriction | undefined {
  if (!(cause instanceof RequestFailed) || cause.failure.code !== 'rate_limited') return undefined
  const { retryAfterSeconds: seconds } = cause.failure
  return seconds === undefined || seconds > PATIENCE_SECONDS
    ? undefined
    : { kind: 'limited', seconds }
}

export const isMissed = (
  { id, date }: ExistingMessage,
  { message, date: from, joined = 0 }: Since,
) => date >= joined && (message === undefined ? date >= from : id > message)

const isRefused = (cause: unknown) =>
  isUnreadable(cause) ||
  (cause instanceof RequestFailed && ['bad_request', 'forbidden'].includes(cause.failure.code))

export function joinedOf(channelId: number, chats: readonly tl.TypeChat[]) {
  const chat = chats.find((one) => one.id === channelId)
  return chat?._ === 'channel' && { joined: chat.date }
}

/**
 * Without messages from before the account joined the channel, and without edits of them: it may have been there before, and away
 * meanwhile.
 */
export function sinceJoined(
  channelId: number,
  answer: tl.updates.TypeChannelDifference,
): tl.updates.TypeChannelDifference {
  if (answer._ !== 'updates.channelDifference') return answer
  const { joined = 0 } = joinedOf(channelId, answer.chats) || {}
  const isSince = (message: tl.TypeMessage) =>
    message._ === 'messageEmpty' || message.date >= joined
  const newMessages = answer.newMessages.filter(isSince)
  const otherUpdates = answer.otherUpdates.filter(
    (update) => update._ !== 'updateEditChannelMessage' || isSince(update.message),
  )
  return { ...answer, newMessages, otherUpdates }
}

const UNCOUNTED = -1

/** Keeps only posts from while the account was connected: they were not missed, even if the library fetches them again. */
export function onlyLive(
  difference: tl.updates.RawChannelDifference,
  since: number,
): tl.updates.RawChannelDifference {
  const { newMessages, otherUpdates } = difference
  const live = newMessages.filter(
    (message) => message._ !== 'messageEmpty' && message.date >= since,
  )
  const told = live.map((message) => {
    // With a counter, as for new messages: without one it would be reported as recovered. The library would hold
    // back an update with a counter that an own action of the account may have.
    return { _: 'updateNewChannelMessage', message, pts: UNCOUNTED, ptsCount: 0 } as const
  })
  const others = otherUpdates.filter((update) => {
    if (update._ !== 'updateEditChannelMessage') return true
    return update.message._ === 'message' && (update.message.editDate ?? 0) >= since
  })
  return { ...difference, newMessages: [], otherUpdates: [...told, ...others] }
}
