/** What the network announces in a chat, in neutral terms. */
import type { tl } from '@mtcute/node'
import type { Content, Person } from '../../../../machines/model/content.ts'
import { nativeOf } from '../natives.ts'
import { photoOf, type Shown } from './media.ts'
import { personById, type View } from './peers.ts'

export function serviceOf(
  message: tl.RawMessageService,
  from: Person | undefined,
  shown: Shown,
  view: View,
): Content {
  const { action } = message
  switch (action._) {
    case 'messageActionChatAddUser':
      return service({ fact: 'joined', people: action.users.map((id) => personById(id, view)) })
    case 'messageActionChatJoinedByLink':
    case 'messageActionChatJoinedByRequest':
      return service({ fact: 'joined', people: from ? [from] : [] })
    case 'messageActionChatDeleteUser':
      return service({ fact: 'left', person: personById(action.userId, view) })
    case 'messageActionChatEditTitle':
      return service({ fact: 'title', title: action.title })
    case 'messageActionChatEditPhoto':
      return service({ fact: 'photo', photo: photoOf(action.photo, shown) })
    case 'messageActionChatDeletePhoto':
      return service({ fact: 'photo', photo: undefined })
    case 'messageActionChatCreate':
    case 'messageActionChannelCreate':
      return service({ fact: 'created', title: action.title })
    case 'messageActionChatMigrateTo': {
      const chat = nativeOf({ _: 'peerChannel', channelId: action.channelId })
      return service({ fact: 'moved_to', chat })
    }
    case 'messageActionChannelMigrateFrom': {
      const chat = nativeOf({ _: 'peerChat', chatId: action.chatId })
      return service({ fact: 'moved_from', chat })
    }
    case 'messageActionTopicCreate': {
      const { title: name, iconColor, iconEmojiId } = action
      const icon = iconEmojiId && { icon: iconEmojiId.toString() }
      return service({ fact: 'topic_created', name, iconColor, ...icon })
    }
    case 'messageActionTopicEdit': {
      const { title: name, iconEmojiId, closed } = action
      if (closed !== undefined) return service({ fact: closed ? 'topic_closed' : 'topic_reopened' })
      if (name === undefined && iconEmojiId === undefined) break
      // Without an icon it is sent as zero.
      const icon = iconEmojiId && { icon: iconEmojiId.isZero() ? '' : iconEmojiId.toString() }
      return service({ fact: 'topic_edited', ...(name !== undefined && { name }), ...icon })
    }
    case 'messageActionPinMessage': {
      const { replyTo } = message
      const pinned = replyTo?._ === 'messageReplyHeader' ? replyTo.replyToMsgId : undefined
      if (pinned !== undefined) return service({ fact: 'pinned', message: `${pinned}` })
    }
  }
  return { kind: 'unsupported', label: action._ }
}

type Fact =
  Extract<Content, { kind: 'service' }> extends infer Known
    ? Known extends unknown
      ? Omit<Known, 'kind'>
      : never
    : never

const service = (fact: Fact) => ({ kind: 'service', ...fact }) as Content
