/** What an operation resolved with, in the reference's JSON. */
import type { OperationResult } from '../../../machines/model/operation.ts'
import { chatJson } from './chat.ts'
import { fullChatJson } from './full-chat.ts'
import { photoJson, stickerSetJson } from './media.ts'
import { inviteJson, memberJson } from './membership.ts'
import { bareMessageJson, messageJson } from './message.ts'
import type { Names } from './names.ts'
import { pollJson } from './poll.ts'
import { topicJson } from './topic.ts'

export function resultJson(result: OperationResult, ids: Names): unknown {
  switch (result.kind) {
    case 'message':
      return messageJson(result.message, ids) ?? bareMessageJson(result.message, ids)
    case 'messages':
      return result.messages.map(
        (message) => messageJson(message, ids) ?? bareMessageJson(message, ids),
      )
    case 'chat':
      return fullChatJson(result.chat, ids)
    case 'poll':
      return pollJson(result.poll, ids)
    case 'member':
      return memberJson(result.member, ids)
    case 'members':
      return result.members.map((member) => memberJson(member, ids))
    case 'invite':
      return inviteJson(result.invite, ids)
    case 'topic':
      return topicJson(result.chat.native, result.topic, ids)
    case 'stickers':
      return stickerSetJson(result.set, ids)
    case 'story':
      return { chat: chatJson(result.story.chat, ids), id: result.story.id }
    case 'number':
      return result.number
    case 'photos':
      return {
        total_count: result.total,
        photos: result.photos.map((photo) => photoJson(photo, ids)),
      }
    case 'done':
      return true
  }
}
