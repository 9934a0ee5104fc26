/** What becomes of a chat as a whole: its title, what it says of itself, what members may do, and leaving it. */
import type { tl } from '@mtcute/node'
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { bannedRights } from '../writing/rights.ts'
import { type Context, done, looking } from './context.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function setTitle(
  { calls, signal }: Context,
  { chat, title }: Of<'set_title'>,
): Promise<OperationResult> {
  const peer = await calls.peer(chat, signal)
  const result =
    peer._ === 'inputPeerChat'
      ? await calls.call({ _: 'messages.editChatTitle', chatId: peer.chatId, title }, { signal })
      : await calls.call(
          { _: 'channels.editTitle', channel: await calls.channel(chat, signal), title },
          { signal },
        )
  calls.take(result)
  return done
}

export async function setDescription(
  { calls, signal }: Context,
  { chat, description: about }: Of<'set_description'>,
): Promise<OperationResult> {
  const peer = await calls.peer(chat, signal)
  await calls.call({ _: 'messages.editChatAbout', peer, about }, { signal })
  return done
}

export async function setPermissions(
  { calls, signal }: Context,
  { chat, permissions }: Of<'set_permissions'>,
): Promise<OperationResult> {
  const peer = await calls.peer(chat, signal)
  const request = { _: 'messages.editChatDefaultBannedRights', peer } as const
  const bannedRight = { bannedRights: bannedRights(permissions) }
  calls.take(await calls.call({ ...request, ...bannedRight }, { signal }))
  return done
}

export async function leave(
  { calls, signal }: Context,
  { chat }: Of<'leave'>,
): Promise<OperationResult> {
  const peer = await calls.peer(chat, signal)
  const result =
    peer._ === 'inputPeerChat'
      ? await calls.call(
          {
            _: 'messages.deleteChatUser',
            chatId: peer.chatId,
            userId: { _: 'inputUserSelf' },
          },
          { signal },
        )
      : await calls.call(
          { _: 'channels.leaveChannel', channel: await calls.channel(chat, signal) },
          { signal },
        )
  calls.take(result)
  return done
}

export async function countMembers(
  context: Context,
  { chat }: Of<'count_members'>,
): Promise<OperationResult> {
  const { calls, signal } = context
  const peer = await calls.peer(chat, signal)
  if (peer._ === 'inputPeerUser' || peer._ === 'inputPeerSelf') return { kind: 'number', number: 2 }
  const number = countIn((await fullChat(context, chat, peer)).fullChat)
  if (number === undefined) throw failed('bad_request', 'member list is inaccessible')
  return { kind: 'number', number }
}

export async function fullChat(
  context: Context,
  chat: string,
  peer: tl.TypeInputPeer,
): Promise<tl.messages.RawChatFull> {
  const { calls, signal } = context
  if (peer._ === 'inputPeerChat') {
    return calls.call({ _: 'messages.getFullChat', chatId: peer.chatId }, looking(context))
  }
  const channel = await calls.channel(chat, signal)
  return calls.call({ _: 'channels.getFullChannel', channel }, looking(context))
}

export function countIn(chat: tl.TypeChatFull): number | undefined {
  if (chat._ === 'channelFull') return chat.participantsCount
  const { participants } = chat
  return participants._ === 'chatParticipants' ? participants.participants.length : undefined
}
