/** What members of small groups ask and do on the test network; whoever was there first has made the group. */
import { Long, type tl } from '@mtcute/core'
import { chatOf, type Group } from './channel.ts'
import { type Handlers, RpcRefusal } from './data-centre.ts'
import type { TelegramNetwork } from './network.ts'

export function smallGroupHandlers(network: TelegramNetwork): Handlers {
  const named = (chatId: number): Group => {
    const found = network.places.get(chatId)
    if (found?.kind !== 'group') throw new RpcRefusal(400, 'CHAT_ID_INVALID')
    return found
  }
  return {
    'messages.getFullChat': ({ chatId }, origin) => {
      const group = named(chatId)
      const { users } = network.delivery.along(network.asker(origin))
      const participants: tl.RawChatParticipants = {
        _: 'chatParticipants',
        chatId,
        participants: [...group.members].map((userId, place) =>
          participantOf(group, userId, place),
        ),
        version: 1,
      }
      const fullChat: tl.RawChatFull = {
        _: 'chatFull',
        id: chatId,
        about: '',
        participants,
        chatPhoto: { _: 'photoEmpty', id: Long.ZERO },
        notifySettings: { _: 'peerNotifySettings' },
      }
      return { _: 'messages.chatFull', fullChat, chats: [chatOf(group)], users }
    },
    'messages.deleteChatUser': ({ chatId, userId }, origin) => {
      const person = network.asker(origin)
      const group = named(chatId)
      const id = userId._ === 'inputUser' ? userId.userId : person.id
      if (!group.members.delete(id)) throw new RpcRefusal(400, 'USER_NOT_PARTICIPANT')
      return network.delivery.answer(person, [])
    },
  }
}

function participantOf(group: Group, userId: number, place: number): tl.TypeChatParticipant {
  if (place === 0) return { _: 'chatParticipantCreator', userId }
  const [inviterId = 0] = group.members
  const facts = { userId, inviterId, date: 1 }
  const isAdmin = group.admins.has(userId)
  return { _: isAdmin ? 'chatParticipantAdmin' : 'chatParticipant', ...facts }
}
