/** Updates that are incomplete: asks the network for the rest, and reports them once they are complete. */
import { PeersIndex, type RawUpdateInfo, type tl } from '@mtcute/node'
import type { Logger } from '../../../actors/ports/ports.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import { RecentMap } from '../kit/recent-map.ts'
import type { Calls } from './calls.ts'
import { findMessage } from './find-message.ts'
import { nativeOf } from './natives.ts'
import { type OwnMemberships, ownMembership } from './own-memberships.ts'
import { chatOf, personById } from './reading/peers.ts'
import type { KnownPolls } from './reading/polls.ts'

interface InquiryOptions {
  readonly calls: Calls
  readonly self: string
  readonly polls: KnownPolls
  readonly memberships: OwnMemberships
  readonly logger: Logger
  /** Aborts when the session is over. */
  readonly ending: AbortSignal
  found(happenings: readonly Happening[]): void
}

const REQUESTS = 100
const JOINS = ['messageActionChatJoinedByLink', 'messageActionChatJoinedByRequest']
/** How many reported items are remembered, so that they are not reported again. */
const REMEMBERED = 1_000

export class Inquiries {
  readonly #options: InquiryOptions
  readonly #requests = new RecentMap<string, true>(REMEMBERED)

  constructor(options: InquiryOptions) {
    this.#options = options
  }

  /** Whether the update is reported later, once it is complete. */
  take(info: RawUpdateInfo): boolean {
    const { update } = info
    if (update._ === 'updateNewChannelMessage') this.#noteOwn(update.message)
    if (update._ === 'updateChannel') {
      this.#membership(update, info.peers.chats.get(update.channelId))
      return true
    }
    if (update._ === 'updatePendingJoinRequests') {
      if (update.requestsPending > 0) this.#ask(update, this.#joinRequests(update, info.peers))
      return true
    }
    if (update._ !== 'updateMessagePoll' || this.#options.polls.knows(update)) return false
    this.#ask(update, this.#poll(update))
    return true
  }

  #ask(update: tl.TypeUpdate, asking: Promise<readonly Happening[]>) {
    const { found, logger, ending } = this.#options
    asking
      .then((happenings) => {
        if (happenings.length > 0) found(happenings)
      })
      .catch((err) => {
        if (!ending.aborted)
          logger.warn({ err, update: update._ }, 'an event was not told: its rest is not known')
      })
  }

  #membership(update: tl.RawUpdateChannel, channel: tl.TypeChat | undefined) {
    const { calls, self, memberships, ending: signal } = this.#options
    if (channel?._ !== 'channel' && channel?._ !== 'channelForbidden') return
    // Another person's view of a channel does not show the account's role there.
    if (channel._ === 'channel' && channel.min) return
    const before = memberships.exchange(channel)
    if (before === undefined) return
    const asking = ownMembership({ calls, self, signal }, channel, before)
    this.#ask(
      update,
      asking.then((happening) => [happening]),
    )
  }

  /** A service message announces that the account joined, so it is not reported here. */
  #noteOwn(message: tl.TypeMessage) {
    if (message._ !== 'messageService' || message.peerId._ !== 'peerChannel') return
    const { self, memberships } = this.#options
    const { action, fromId, peerId } = message
    const isOwn =
      action._ === 'messageActionChatAddUser'
        ? action.users.includes(Number(self))
        : JOINS.includes(action._) && fromId !== undefined && nativeOf(fromId) === self
    if (isOwn) memberships.note(peerId.channelId, 'member')
  }

  async #joinRequests(
    { peer }: tl.RawUpdatePendingJoinRequests,
    peers: PeersIndex,
  ): Promise<readonly Happening[]> {
    const { calls, self, ending: signal } = this.#options
    const asked = await calls.call(
      {
        _: 'messages.getChatInviteImporters',
        requested: true,
        peer: await calls.peer(nativeOf(peer), signal),
        offsetDate: 0,
        offsetUser: { _: 'inputUserEmpty' },
        limit: REQUESTS,
      },
      { signal, readsOnly: true },
    )
    const chats = peers.chats.size > 0 ? peers : await calls.known([peer])
    const chat = chatOf(peer, { self, peers: chats })
    const view = { self, peers: PeersIndex.from(asked) }
    return asked.importers.toReversed().flatMap(({ userId, date, about }): Happening[] => {
      const sourceKey = `j:${chat.native}:${userId}:${date}`
      if (this.#requests.has(sourceKey)) return []
      this.#requests.set(sourceKey, true)
      const facts = { kind: 'join_request', sourceKey, direction: 'incoming', at: date } as const
      return [{ ...facts, chat, person: personById(userId, view), ...(about && { bio: about }) }]
    })
  }

  async #poll(update: tl.RawUpdateMessagePoll): Promise<readonly Happening[]> {
    const { calls, polls, ending } = this.#options
    const { peer, msgId } = update
    if (!peer || msgId === undefined) throw new Error('it is not known what the poll asks')
    polls.note(await findMessage(calls, nativeOf(peer), msgId, ending))
    const told = polls.read(update)
    return told ? [told] : []
  }
}
