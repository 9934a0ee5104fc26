/** Chats as the network describes them: found by name, described, and counted. */
import { PeersIndex, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import type { Chat } from '../../../../machines/model/content.ts'
import { failed } from '../../../../machines/model/failure.ts'
import { findMessageWithPeers } from '../find-message.ts'
import { permissionsOf } from '../reading/memberships.ts'
import { messageOf } from '../reading/message.ts'
import { chatOf, pictureOf, type View } from '../reading/peers.ts'
import { type Context, ignoreUnknownPerson, readOptions } from './context.ts'

export const descriptions: Handlers<Context> = {
  async resolve(context, { name }) {
    const { calls, self } = context
    const request = { _: 'contacts.resolveUsername', username: name } as const
    const found = await calls.call(request, readOptions(context))
    return { kind: 'chat', chat: chatOf(found.peer, { self, peers: PeersIndex.from(found) }) }
  },

  describe: async (context, { chat }) => ({ kind: 'chat', chat: await described(context, chat) }),

  async count_members(context, { chat }) {
    const { calls, signal } = context
    const peer = await calls.peer(chat, signal)
    if (peer._ === 'inputPeerUser' || peer._ === 'inputPeerSelf') {
      return { kind: 'number', number: 2 }
    }
    const number = countIn((await fullChat(context, chat, peer)).fullChat)
    if (number === undefined) throw failed('bad_request', 'member list is inaccessible')
    return { kind: 'number', number }
  },
}

export async function described(context: Context, chat: string): Promise<Chat> {
  const { calls, signal } = context
  const peer = await calls.peer(chat, signal)
  switch (peer._) {
    case 'inputPeerChat': {
      const of = { _: 'peerChat', chatId: peer.chatId } as const
      return groupOrChannel(context, await fullChat(context, chat, peer), of)
    }
    case 'inputPeerChannel': {
      const of = { _: 'peerChannel', channelId: peer.channelId } as const
      return groupOrChannel(context, await fullChat(context, chat, peer), of)
    }
    default:
      return person(context, chat)
  }
}

export async function fullChat(
  context: Context,
  chat: string,
  peer: tl.TypeInputPeer,
): Promise<tl.messages.RawChatFull> {
  const { calls, signal } = context
  if (peer._ === 'inputPeerChat') {
    return calls.call({ _: 'messages.getFullChat', chatId: peer.chatId }, readOptions(context))
  }
  const channel = await calls.channel(chat, signal)
  return calls.call({ _: 'channels.getFullChannel', channel }, readOptions(context))
}

function countIn(chat: tl.TypeChatFull): number | undefined {
  if (chat._ === 'channelFull') return chat.participantsCount
  const { participants } = chat
  return participants._ === 'chatParticipants' ? participants.participants.length : undefined
}

async function person(context: Context, native: string): Promise<Chat> {
  const { calls, self, signal } = context
  const id = await calls.user(native, signal)
  const found = await calls.call({ _: 'users.getFullUser', id }, readOptions(context))
  const { fullUser } = found
  const peers = PeersIndex.from(found)
  const user = peers.users.get(fullUser.id)
  const photo = pictureOf(native, user?._ === 'user' ? user.photo : undefined)
  const chat = chatOf({ _: 'peerUser', userId: fullUser.id }, { self, peers })
  const { personalChannelId: channelId } = fullUser
  const pinned = await newestPin(context, native, fullUser.pinnedMsgId)
  return {
    ...chat,
    ...(fullUser.about && { description: fullUser.about }),
    ...(photo && { photo }),
    ...(channelId !== undefined && {
      personal: chatOf({ _: 'peerChannel', channelId }, { self, peers }),
    }),
    ...pinned,
  }
}

async function groupOrChannel(
  context: Context,
  found: tl.messages.RawChatFull,
  peer: tl.RawPeerChat | tl.RawPeerChannel,
): Promise<Chat> {
  const view: View = { self: context.self, peers: PeersIndex.from(found) }
  const { fullChat } = found
  const chat = chatOf(peer, view)
  const raw = view.peers.chats.get(fullChat.id)
  const invite = fullChat.exportedInvite
  const picture = raw && 'photo' in raw ? pictureOf(chat.native, raw.photo) : undefined
  const needsApproval = raw?._ === 'channel' && raw.joinRequest && { needsApproval: true }
  const rights = raw && 'defaultBannedRights' in raw ? raw.defaultBannedRights : undefined
  return {
    ...chat,
    ...(await parentOf(context, raw, view)),
    ...(fullChat.about && { description: fullChat.about }),
    ...(picture && { photo: picture }),
    ...(invite?._ === 'chatInviteExported' && { inviteLink: invite.link }),
    ...(rights && { permissions: permissionsOf(rights) }),
    ...needsApproval,
    ...stickersOf(fullChat),
    ...slowModeOf(fullChat),
    ...(await newestPin(context, chat.native, fullChat.pinnedMsgId)),
  }
}

/** The channel whose direct messages the chat is, if the account knows it. */
async function parentOf(
  { calls, self }: Context,
  chat: tl.TypeChat | undefined,
  { peers }: View,
): Promise<Pick<Chat, 'parent'>> {
  if (chat?._ !== 'channel' || !chat.monoforum || chat.linkedMonoforumId === undefined) return {}
  const { linkedMonoforumId: channelId } = chat
  const peer = { _: 'peerChannel', channelId } as const
  const known = peers.chats.has(channelId) ? peers : await calls.known([peer])
  return known.chats.has(channelId) ? { parent: chatOf(peer, { self, peers: known }) } : {}
}

function stickersOf(chat: tl.TypeChatFull): Pick<Chat, 'stickerSet' | 'maySetStickers'> {
  if (chat._ !== 'channelFull') return {}
  return {
    ...(chat.stickerset && { stickerSet: chat.stickerset.shortName }),
    ...(chat.canSetStickers && { maySetStickers: true }),
  }
}

const slowModeOf = (chat: tl.TypeChatFull): Pick<Chat, 'slowSeconds'> =>
  chat._ === 'channelFull' && chat.slowmodeSeconds ? { slowSeconds: chat.slowmodeSeconds } : {}

/** The pinned message may be deleted: then the chat is described without it. */
async function newestPin(
  { calls, self, signal }: Context,
  chat: string,
  id: number | undefined,
): Promise<Pick<Chat, 'pinned'>> {
  if (id === undefined) return {}
  const found = await findMessageWithPeers(calls, chat, id, signal).catch(ignoreUnknownPerson)
  return found ? { pinned: messageOf(found.message, { self, peers: found.peers }) } : {}
}
