/** Gathers the library's updates, drops repeats and own actions, and commits them with the counters that cover them. */

import type { RawUpdateInfo } from '@mtcute/core'
import type { PeersIndex, tl } from '@mtcute/node'
import type { SessionReport } from '../../../actors/ports/platform.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import { EventLine } from '../kit/event-line.ts'
import type { AnswerUpdates } from './calls.ts'
import type { TelegramClient } from './client.ts'
import { wordOf } from './failures.ts'
import {
  deletionsOf,
  type HappeningContext,
  happeningsOf,
  mayHappen,
} from './reading/happenings.ts'
import type { OpinionReader } from './reading/opinions.ts'
import type { MessageLocation, MessageLocations } from './storage/locations.ts'
import { PeerUnread } from './storage/peers.ts'
import { COMMON, type UpdateState } from './storage/update-state.ts'
import { tellsOutcome } from './suggested-posts.ts'

const UPDATES: readonly string[] = [
  'updates',
  'updatesCombined',
  'updateShort',
  'updateShortMessage',
  'updateShortChatMessage',
  'updateShortSentMessage',
] satisfies readonly tl.TypeUpdates['_'][]

/** Recognizes updates about the account's own actions: from the network's answer until the update is counted. */
export function recognizeOwnActions(client: TelegramClient): void {
  const { mt, updates } = client
  if (!updates) return
  const call = mt.call.bind(mt)
  // The library notes an answer only after it has stored the people in it. A list of missed updates, fetched meanwhile,
  // contains the same updates and would be reported first.
  const noting: TelegramClient['mt']['call'] = async (request, params) => {
    const answer = await call(request, params)
    // A caller that gave up does not get the answer: then the update is reported.
    const isAwaited = params?.abortSignal?.aborted !== true
    if (isAwaited && isUpdates(answer)) updates._addToNoDispatchIndex(answer)
    return answer
  }
  mt.call = noting
  const save = updates._saveUpdatesStorage.bind(updates)
  updates._saveUpdatesStorage = (isWhole) => {
    forgetCounted(updates)
    return save(isWhole)
  }
}

interface Processing {
  /** The update is not processed, and must be fetched again: the session is over. */
  failed(cause: unknown): void
  /** The update is left out. */
  leftOut(cause: unknown): void
}

/**
 * After an error the library forgets the update and counts it all the same, and the updates before it wait for the next one.
 * An error of the database is no fault of the update; any other would come again with it.
 */
export function processEach(
  { updates, storage }: TelegramClient,
  { failed, leftOut }: Processing,
): void {
  if (!updates) return
  const { peers } = storage
  const lost = (cause: unknown): never => {
    if (cause instanceof PeerUnread) failed(cause)
    throw cause
  }
  // By then the library has taken the updates, or the news that a channel has some, out of its line.
  const store = peers.updatePeersFrom.bind(peers)
  peers.updatePeersFrom = (answer) =>
    isUpdates(answer) ? store(answer).catch(lost) : store(answer)
  const fetch = updates._fetchChannelDifference.bind(updates)
  updates._fetchChannelDifference = (...given) => fetch(...given).catch(lost)
  const process = updates._onUpdate.bind(updates)
  updates._onUpdate = (...given) =>
    process(...given).catch((cause) => (cause instanceof PeerUnread ? failed : leftOut)(cause))
  const complete = updates._fetchMissingPeers.bind(updates)
  // Only bots may ask for a channel that they do not know: without its name the message is told all the same.
  updates._fetchMissingPeers = (...given) =>
    complete(...given).catch((cause) => {
      if (wordOf(cause) === undefined) throw cause
      return new Set<number>()
    })
}

const isUpdates = (answer: unknown): answer is tl.TypeUpdates =>
  typeof answer === 'object' && answer !== null && '_' in answer && UPDATES.includes(`${answer._}`)

/** Forgets counted updates: they do not come again, and the library itself would keep their numbers for ever. */
function forgetCounted({
  noDispatchPts,
  noDispatchMsg,
  pts,
  cpts,
}: NonNullable<TelegramClient['updates']>): void {
  for (const [box, own] of noDispatchPts) {
    const counted = (box === 0 ? pts : cpts.get(box)) ?? 0
    for (const one of own) if (one <= counted) own.delete(one)
    if (own.size > 0) continue
    noDispatchPts.delete(box)
    noDispatchMsg.delete(box)
  }
}

/** Calls `tell` for the same value at most once in so many milliseconds. */
export function throttled<What>(
  milliseconds: number,
  tell: (what: What) => void,
  now: () => number = () => performance.now(),
): (what: What) => void {
  const toldAt = new Map<What, number>()
  return (what) => {
    const last = toldAt.get(what)
    if (last !== undefined && now() - last < milliseconds) return
    toldAt.set(what, now())
    tell(what)
  }
}

interface IntakeOptions extends Omit<HappeningContext, 'peers'> {
  readonly state: UpdateState
  readonly locations: MessageLocations
  readonly report: Pick<SessionReport, 'events'>
  /** The stored people and chats among these. */
  known(peers: readonly tl.TypePeer[]): Promise<PeersIndex>
  /** The updates could not be stored: the session is over. */
  failed(cause: unknown): void
}

/** How long counters that moved without events, as after an own send, wait for further changes. */
const IDLE_COUNT_MS = 500

export class Intake {
  readonly #options: IntakeOptions
  readonly #line: EventLine
  #updates: RawUpdateInfo[] = []
  #completed: Happening[] = []
  #committed: Promise<void> = Promise.resolve()
  #waiting: NodeJS.Timeout | undefined
  #isOver = false

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#line = new EventLine(options.report)
  }

  /** Leaves out what cannot be reported: it would be committed at once, though nobody waits for it. */
  take(info: RawUpdateInfo): void {
    if (mayHappen(info.update)) this.#updates.push(info)
  }

  /** Adds happenings that were completed by a request: no counter covers them. */
  add(happenings: readonly Happening[]): void {
    this.#completed.push(...happenings)
    if (!this.#isOver && this.#options.state.isKnown) this.#commit()
  }

  /** Takes the updates of the account's own actions: only the outcome of a suggestion that it answered is reported. */
  acted({ updates, peers }: AnswerUpdates): void {
    const { self, opinions, polls } = this.#options
    polls.noteIn(updates)
    opinions.noteIn(updates, self)
    const outcomes = updates.filter(tellsOutcome)
    if (outcomes.length === 0) return
    this.add(outcomes.flatMap((update) => happeningsOf(update, { self, peers, opinions, polls })))
  }

  /** Called when all counted updates were taken. Resolves once they are committed. */
  save(): Promise<void> {
    if (this.#isOver || !this.#options.state.isKnown) return this.#committed
    if (this.#updates.length > 0) return this.#commit()
    if (this.#options.state.takeChange()) {
      this.#waiting ??= setTimeout(() => this.#commit(), IDLE_COUNT_MS)
    }
    return this.#committed
  }

  /** Commits the waiting counters, and nothing afterwards. */
  async close(): Promise<void> {
    if (this.#waiting && !this.#isOver) this.#commit()
    await this.#committed
    await this.#options.locations.written()
    this.abandon()
  }

  /** Stops without committing the rest. */
  abandon(): void {
    clearTimeout(this.#waiting)
    this.#isOver = true
  }

  /** Updates that are not counted yet are stored too: a repeat is dropped by its source key. */
  #commit(): Promise<void> {
    clearTimeout(this.#waiting)
    this.#waiting = undefined
    const { state, failed } = this.#options
    const updates = this.#updates.splice(0)
    const completed = this.#completed.splice(0)
    state.takeChange()
    for (const { update } of updates) noteMessage(state, update)
    const checkpoint = state.checkpoint()
    this.#committed = this.#line
      .run(async () => {
        if (this.#isOver) return
        const happenings = [...(await this.#read(updates)), ...completed]
        // The checkpoint covers what the account has sent, too.
        await this.#options.locations.written()
        await this.#line.store(happenings, checkpoint)
      })
      .catch((cause) => {
        if (this.#isOver) return
        this.abandon()
        failed(cause)
      })
    return this.#committed
  }

  async #read(updates: readonly RawUpdateInfo[]): Promise<Happening[]> {
    const { locations, self, opinions, polls } = this.#options
    await locations.remember(updates.flatMap(({ update }) => locationOf(update)))
    const happenings: Happening[] = []
    for (const { update, peers } of updates) {
      await this.#complete(update, peers)
      if (update._ === 'updateDeleteMessages') {
        happenings.push(...deletionsOf(update.messages, await locations.find(update.messages)))
      } else {
        happenings.push(...happeningsOf(update, { self, peers, opinions, polls }))
      }
    }
    return happenings
  }

  /** Adds those whom the update is about and whom the network left out. */
  async #complete(update: RawUpdateInfo['update'], peers: PeersIndex): Promise<void> {
    const { opinions } = this.#options
    const missing = subjectsOf(update, opinions).filter((peer) => !peers.has(peer))
    if (missing.length === 0) return
    const known = await this.#options.known(missing)
    for (const [id, user] of known.users) peers.users.set(id, user)
    for (const [id, chat] of known.chats) peers.chats.set(id, chat)
  }
}

/**
 * The chat of an update that is no message, and the people in it: the library completes only messages, and of them not who
 * has reacted.
 */
function subjectsOf(
  update: RawUpdateInfo['update'],
  opinions: OpinionReader,
): readonly tl.TypePeer[] {
  switch (update._) {
    case 'updateDeleteChannelMessages':
    case 'updateReadChannelOutbox':
      return [{ _: 'peerChannel', channelId: update.channelId }]
    case 'updateReadMonoForumOutbox':
      return [{ _: 'peerChannel', channelId: update.channelId }, update.savedPeerId]
    case 'updateReadHistoryOutbox':
      return [update.peer]
    case 'updateMessageReactions':
      return [update.peer, ...opinions.peopleAt(update.peer, update.msgId, update.reactions)]
    case 'updateEditMessage': {
      if (update.message._ !== 'message') return []
      const { peerId, id, reactions } = update.message
      return opinions.peopleAt(peerId, id, reactions)
    }
    default:
      return []
  }
}

/** The chats of messages whose later deletion will name only their ids. */
function locationOf(update: RawUpdateInfo['update']): MessageLocation[] {
  if (update._ !== 'updateNewMessage' || update.message._ === 'messageEmpty') return []
  const { id, peerId } = update.message
  if (peerId._ === 'peerChannel') return []
  return [{ message: id, chat: peerId._ === 'peerUser' ? peerId.userId : -peerId.chatId }]
}

function noteMessage(state: UpdateState, update: RawUpdateInfo['update']): void {
  if (update._ !== 'updateNewMessage' && update._ !== 'updateNewChannelMessage') return
  const { peerId, id } = update.message
  if (peerId) state.reported(peerId._ === 'peerChannel' ? peerId.channelId : COMMON, id)
}
