/** The chats of the account, what was written there before, how far it is read, and people found by phone. */
import { Long, PeersIndex, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import { failed, RequestFailed } from '../../../../machines/model/failure.ts'
import type { OperationResult } from '../../../../machines/model/operation.ts'
import type { ListedChat, PastMessage } from '../../../../machines/model/operation-reading.ts'
import { type DialogPage, topMessageOf } from '../dialogs.ts'
import type { ExistingMessage } from '../find-message.ts'
import { isChannel, messageId, nativeOf } from '../natives.ts'
import { isOwn, messageOf } from '../reading/message.ts'
import { chatOf, personById, type View } from '../reading/peers.ts'
import { conversationFor } from '../suggested-posts.ts'
import { type Context, done, readOptions, storeLocations } from './context.ts'

export const readings: Handlers<Context> = {
  async list_chats(context, { limit, after = 'p0' }) {
    if (!/^p\d+$/.test(after)) {
      const { chats, next } = await otherChats(context, limit, after)
      return listed(context, chats, next)
    }
    const pinned = await pinnedChats(context)
    const from = Number(after.slice(1))
    const chats = pinned.slice(from, from + limit)
    if (chats.length === limit) {
      const hasMore = pinned.length > from + limit
      return listed(context, chats, hasMore ? `p${from + limit}` : FIRST)
    }
    const rest = await otherChats(context, limit - chats.length, FIRST)
    return listed(context, [...chats, ...rest.chats], rest.next)
  },

  async read_history(context, operation) {
    const { chat, message, limit } = operation
    const offsetId = message === undefined ? 0 : messageId(message, 'message to go back from')
    const { monoforumPeerId } = await conversationFor(context, operation)
    const peer = await context.calls.peer(chat, context.signal)
    const place = monoforumPeerId ? { peer: monoforumPeerId, parentPeer: peer } : { peer }
    return historyOf(context, place, offsetId, limit)
  },

  async personal_messages(context, { person, limit }) {
    const { calls, signal } = context
    const id = await calls.user(person, signal)
    const found = await calls.call({ _: 'users.getFullUser', id }, readOptions(context))
    const { personalChannelId: channelId } = found.fullUser
    if (channelId === undefined) return { kind: 'history', messages: [] }
    const channel = nativeOf({ _: 'peerChannel', channelId })
    return historyOf(context, { peer: await calls.peer(channel, signal) }, 0, limit)
  },

  async mark_read(context, operation) {
    const { calls, signal } = context
    const { chat, message } = operation
    const maxId = message === undefined ? 0 : messageId(message, 'message to read')
    const { monoforumPeerId: peerOfTopic } = await conversationFor(context, operation)
    if (peerOfTopic) {
      const place = { parentPeer: await calls.peer(chat, signal), peer: peerOfTopic }
      // Only of other histories it is documented that 0 means all of it.
      const upTo = maxId || (await newestIn(context, place))
      if (upTo > 0) {
        await calls.call({ _: 'messages.readSavedHistory', ...place, maxId: upTo }, { signal })
      }
      return done
    }
    if (isChannel(chat)) {
      const channel = await calls.channel(chat, signal)
      await calls.call({ _: 'channels.readHistory', channel, maxId }, { signal })
      return done
    }
    const peer = await calls.peer(chat, signal)
    const request = { _: 'messages.readHistory', peer, maxId } as const
    const { pts, ptsCount } = await calls.call(request, { signal })
    calls.count(pts, ptsCount)
    return done
  },

  async resolve_phone(context, { phone }) {
    const { calls, self } = context
    const request = { _: 'contacts.resolvePhone', phone: phone.slice(1) } as const
    const found = await calls.call(request, readOptions(context)).catch(nobody)
    if (found?.peer._ !== 'peerUser') return { kind: 'person' }
    const view = { self, peers: PeersIndex.from(found) }
    return { kind: 'person', person: personById(found.peer.userId, view) }
  },
}

/** A chat, or the conversation of a person with a channel, whose direct messages are the parent. */
interface HistoryPlace {
  readonly peer: tl.TypeInputPeer
  readonly parentPeer?: tl.TypeInputPeer
}

/** 0 where there is none. */
async function newestIn(context: Context, place: HistoryPlace): Promise<number> {
  const found = await pageOf(context, place, 0, 1)
  return found._ === 'messages.messagesNotModified' ? 0 : (found.messages[0]?.id ?? 0)
}

function pageOf(
  context: Context,
  place: HistoryPlace,
  offsetId: number,
  limit: number,
): Promise<tl.messages.TypeMessages> {
  const bounds = { offsetDate: 0, addOffset: 0, maxId: 0, minId: 0, hash: Long.ZERO }
  const kind = place.parentPeer ? 'messages.getSavedHistory' : 'messages.getHistory'
  const request = { _: kind, ...place, offsetId, limit, ...bounds } as const
  return context.calls.call(request, readOptions(context))
}

/** The newest messages before `offsetId`; 0: the newest of all. */
async function historyOf(
  context: Context,
  place: HistoryPlace,
  offsetId: number,
  limit: number,
): Promise<OperationResult> {
  const { self } = context
  const found = await pageOf(context, place, offsetId, limit)
  if (found._ === 'messages.messagesNotModified') return { kind: 'history', messages: [] }
  const view = { self, peers: PeersIndex.from(found) }
  const messages = found.messages
    .filter((one): one is ExistingMessage => one._ !== 'messageEmpty')
    .map((one) => pastOf(one, view))
  await storeLocations(
    context,
    messages.map((past) => past.message),
  )
  return { kind: 'history', messages }
}

/** The network says the same of people who do not let themselves be found. */
function nobody(cause: unknown): undefined {
  const isNobody = cause instanceof RequestFailed && cause.failure.reason === 'user_not_found'
  if (!isNobody) throw cause
}

/** The cursor of the list without pinned chats: date and id of a message, and its chat. */
const FIRST = '0:0:0'
/** The main list and the archive. */
const FOLDERS = [0, 1]

interface Page {
  readonly chats: readonly ListedChat[]
  readonly next?: string
}

/** The network lists the pinned chats apart from all others. */
async function pinnedChats(context: Context): Promise<ListedChat[]> {
  const { calls, self } = context
  const chats: ListedChat[] = []
  for (const folderId of FOLDERS) {
    const found = await calls.call(
      { _: 'messages.getPinnedDialogs', folderId },
      readOptions(context),
    )
    const view = { self, peers: PeersIndex.from(found) }
    const page: DialogPage = { ...found, _: 'messages.dialogs' }
    chats.push(...dialogsIn(page).map((dialog) => chatIn(page, dialog, view)))
  }
  return chats
}

async function otherChats(context: Context, limit: number, after: string): Promise<Page> {
  const { calls, self, signal } = context
  const [, date, id, native] = /^(\d{1,10}):(\d{1,10}):(-?\d{1,16})$/.exec(after) ?? []
  if (native === undefined) throw failed('bad_request', 'OFFSET_INVALID')
  const none = { _: 'inputPeerEmpty' } as const
  const offsetPeer = native === '0' ? none : await calls.peer(native, signal)
  const offset = { offsetDate: Number(date), offsetId: Number(id), offsetPeer }
  const request = { _: 'messages.getDialogs', excludePinned: true, ...offset } as const
  const found = await calls.call({ ...request, limit, hash: Long.ZERO }, readOptions(context))
  if (found._ === 'messages.dialogsNotModified') return { chats: [] }
  const view = { self, peers: PeersIndex.from(found) }
  const dialogs = dialogsIn(found)
  const chats = dialogs.map((dialog) => chatIn(found, dialog, view))
  const last = dialogs.at(-1)
  const message = last && topMessageOf(found, last)
  const isWhole = found._ === 'messages.dialogs' || found.dialogs.length < limit
  if (isWhole || !message) return { chats }
  return { chats, next: `${message.date}:${message.id}:${nativeOf(last.peer)}` }
}

/** A folder of chats stands in the list, too. */
const dialogsIn = ({ dialogs }: DialogPage): tl.RawDialog[] =>
  dialogs.filter((one) => one._ === 'dialog')

function chatIn(page: DialogPage, dialog: tl.RawDialog, view: View): ListedChat {
  const message = topMessageOf(page, dialog)
  return {
    chat: chatOf(dialog.peer, view),
    unread: dialog.unreadCount,
    ...(message && { last: pastOf(message, view) }),
  }
}

const pastOf = (message: ExistingMessage, view: View): PastMessage => ({
  message: messageOf(message, view),
  isOwn: isOwn(message, view.self),
})

async function listed(
  context: Context,
  chats: readonly ListedChat[],
  next: string | undefined,
): Promise<OperationResult> {
  await storeLocations(
    context,
    chats.flatMap(({ last }) => (last ? [last.message] : [])),
  )
  return { kind: 'chats', chats, ...(next !== undefined && { next }) }
}
