/** Finds chats by their names, and tells what the network shows of them. */
import { Long, PeersIndex, type tl } from '@mtcute/node'
import type { Chat } from '../../../../machines/model/content.ts'
import type { OperationResult } from '../../../../machines/model/operation.ts'
import { findMessageWithPeers } from '../find-message.ts'
import { photoOf } from '../reading/media.ts'
import { messageOf } from '../reading/message.ts'
import { chatOf, pictureOf, type View } from '../reading/peers.ts'
import { permissionsOf } from '../reading/rights.ts'
import { fullChat as askFull, countIn } from './chats.ts'
import { type Context, looking } from './context.ts'

export async function resolve(context: Context, name: string): Promise<OperationResult> {
  const { calls, self } = context
  const request = { _: 'contacts.resolveUsername', username: name } as const
  const found = await calls.call(request, looking(context))
  return { kind: 'chat', chat: chatOf(found.peer, { self, peers: PeersIndex.from(found) }) }
}

export async function describe(context: Context, chat: string): Promise<OperationResult> {
  const { calls, signal } = context
  const peer = await calls.peer(chat, signal)
  switch (peer._) {
    case 'inputPeerChat': {
      const of = { _: 'peerChat', chatId: peer.chatId } as const
      return { kind: 'chat', chat: await full(context, await askFull(context, chat, peer), of) }
    }
    case 'inputPeerChannel': {
      const of = { _: 'peerChannel', channelId: peer.channelId } as const
      return { kind: 'chat', chat: await full(context, await askFull(context, chat, peer), of) }
    }
    default:
      return { kind: 'chat', chat: await person(context, chat) }
  }
}

async function person(context: Context, native: string): Promise<Chat> {
  const { calls, self, signal } = context
  const id = await calls.user(native, signal)
  const found = await calls.call({ _: 'users.getFullUser', id }, looking(context))
  const { fullUser } = found
  const peers = PeersIndex.from(found)
  const user = peers.users.get(fullUser.id)
  const photo = pictureOf(native, user?._ === 'user' ? user.photo : undefined)
  const chat = chatOf({ _: 'peerUser', userId: fullUser.id }, { self, peers })
  const pinned = await newestPin(context, native, fullUser.pinnedMsgId)
  return {
    ...chat,
    ...(fullUser.about && { description: fullUser.about }),
    ...(photo && { photo }),
    ...pinned,
  }
}

async function full(
  context: Context,
  found: tl.messages.RawChatFull,
  peer: tl.RawPeerChat | tl.RawPeerChannel,
): Promise<Chat> {
  const view: View = { self: context.self, peers: PeersIndex.from(found) }
  const { fullChat } = found
  const chat = chatOf(peer, view)
  const raw = view.peers.chats.get(fullChat.id)
  const invite = fullChat.exportedInvite
  const count = countIn(fullChat)
  const picture = raw && 'photo' in raw ? pictureOf(chat.native, raw.photo) : undefined
  const needsApproval = raw?._ === 'channel' && raw.joinRequest && { needsApproval: true }
  const rights = raw && 'defaultBannedRights' in raw ? raw.defaultBannedRights : undefined
  return {
    ...chat,
    ...(fullChat.about && { description: fullChat.about }),
    ...(count !== undefined && { memberCount: count }),
    ...(picture && { photo: picture }),
    ...(invite?._ === 'chatInviteExported' && { inviteLink: invite.link }),
    ...(rights && { permissions: permissionsOf(rights) }),
    ...needsApproval,
    ...(await newestPin(context, chat.native, fullChat.pinnedMsgId)),
  }
}

/** What the pin shows may be gone: the chat is described without it. */
async function newestPin(
  { calls, self, signal }: Context,
  chat: string,
  id: number | undefined,
): Promise<Pick<Chat, 'pinned'>> {
  if (id === undefined) return {}
  const found = await findMessageWithPeers(calls, chat, id, signal).catch(() => undefined)
  return found ? { pinned: messageOf(found.message, { self, peers: found.peers }) } : {}
}

export async function profilePhotos(
  context: Context,
  { person, offset, limit }: { person: string; offset: number; limit: number },
): Promise<OperationResult> {
  const userId = await context.calls.user(person, context.signal)
  const found = await context.calls.call(
    { _: 'photos.getUserPhotos', userId, offset, limit, maxId: Long.ZERO },
    looking(context),
  )
  const shown = { of: 'profile', chat: person } as const
  const photos = found.photos.flatMap((photo) => photoOf(photo, shown) ?? [])
  const total = found._ === 'photos.photosSlice' ? found.count : photos.length
  return { kind: 'photos', total, photos }
}
