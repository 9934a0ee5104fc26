/** Operations about chats, their members and the bot's own profile as calls of the bot API. */

import { PERMISSIONS, RIGHTS } from '../../../../machines/model/membership.ts'
import type { OperationResult } from '../../../../machines/model/operation.ts'
import type { ChatOperation, ProfileOperation } from '../../../../machines/model/operation-chats.ts'
import { fullChatOf } from '../reading/chat.ts'
import { array, fields, integer, text } from '../reading/fields.ts'
import { photoOf } from '../reading/media.ts'
import { inviteOf, memberOf } from '../reading/membership.ts'
import { type Call, type Pen, toDone } from './call.ts'

type Operation =
  | ChatOperation<string, string>
  | ProfileOperation<string>
  | { readonly kind: 'resolve'; readonly name: string }
  | { readonly kind: 'describe'; readonly chat: string }
type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

const call = (method: string, parameters: Call['parameters'], read = toDone as Call['read']) => ({
  method,
  parameters,
  read,
})

export function chatCall(operation: Operation, pen: Pen): Call {
  const chat_id = 'chat' in operation ? Number(operation.chat) : undefined
  switch (operation.kind) {
    case 'resolve':
      return call('getChat', { chat_id: `@${operation.name}` }, toChat)
    case 'describe':
      return call('getChat', { chat_id }, toChat)
    case 'set_title':
      return call('setChatTitle', { chat_id, title: operation.title })
    case 'set_description':
      return call('setChatDescription', { chat_id, description: operation.description })
    case 'set_photo': {
      if (!operation.photo) return call('deleteChatPhoto', { chat_id })
      return call('setChatPhoto', { chat_id, photo: pen.attachments.refer(operation.photo) })
    }
    case 'set_permissions': {
      const permissions = flags(PERMISSIONS, operation.permissions)
      return call('setChatPermissions', { chat_id, permissions, ...independent })
    }
    case 'pin': {
      const { message, silent } = operation
      const parameters = { chat_id, message_id: Number(message), disable_notification: silent }
      return call('pinChatMessage', parameters)
    }
    case 'unpin': {
      const { message } = operation
      const message_id = message === undefined ? undefined : Number(message)
      return call('unpinChatMessage', { chat_id, message_id })
    }
    case 'unpin_all':
      return call('unpinAllChatMessages', { chat_id })
    case 'leave':
      return call('leaveChat', { chat_id })
    case 'administrators':
      return call('getChatAdministrators', { chat_id }, (result) => ({
        kind: 'members',
        members: array(result, memberOf),
      }))
    case 'count_members':
      return call('getChatMemberCount', { chat_id }, (result) => ({
        kind: 'number',
        number: integer(result),
      }))
    case 'profile_photos':
      return profilePhotos(operation)
    case 'set_name': {
      const { firstName, lastName } = operation
      return call('setMyName', { name: [firstName, lastName].filter(Boolean).join(' ') })
    }
    case 'set_about':
      return call('setMyShortDescription', { short_description: operation.about })
    case 'set_profile_photo': {
      if (!operation.photo) return call('removeMyProfilePhoto', {})
      const photo = { type: 'static', photo: pen.attachments.refer(operation.photo) }
      return call('setMyProfilePhoto', { photo })
    }
    case 'invite':
    case 'edit_invite':
    case 'revoke_invite':
      return inviteCall(operation, pen)
    default:
      return memberCall(operation)
  }
}

function memberCall(
  operation: Of<'member' | 'ban' | 'unban' | 'restrict' | 'promote' | 'answer_join'>,
): Call {
  const somebody = { chat_id: Number(operation.chat), user_id: Number(operation.person) }
  switch (operation.kind) {
    case 'member':
      return call('getChatMember', somebody, (result) => ({
        kind: 'member',
        member: memberOf(result),
      }))
    case 'ban': {
      const { until: until_date, deletesMessages: revoke_messages } = operation
      return call('banChatMember', { ...somebody, until_date, revoke_messages })
    }
    case 'unban':
      return call('unbanChatMember', { ...somebody, only_if_banned: operation.onlyIfBanned })
    case 'restrict': {
      const permissions = flags(PERMISSIONS, operation.permissions)
      const until_date = operation.until
      return call('restrictChatMember', { ...somebody, permissions, until_date, ...independent })
    }
    case 'promote': {
      const { rights, isAnonymous: is_anonymous } = operation
      return call('promoteChatMember', { ...somebody, is_anonymous, ...flags(RIGHTS, rights) })
    }
    case 'answer_join': {
      const { approves } = operation
      return call(approves ? 'approveChatJoinRequest' : 'declineChatJoinRequest', somebody)
    }
  }
}

function inviteCall(operation: Of<'invite' | 'edit_invite' | 'revoke_invite'>, pen: Pen): Call {
  const chat_id = Number(operation.chat)
  const toInvite = (result: unknown): OperationResult => ({
    kind: 'invite',
    invite: inviteOf(result),
  })
  if (operation.kind === 'revoke_invite') {
    return call('revokeChatInviteLink', { chat_id, invite_link: operation.link }, toInvite)
  }
  if (operation.kind === 'edit_invite') {
    const parameters = { chat_id, invite_link: operation.link, ...termsOf(operation) }
    return call('editChatInviteLink', parameters, toInvite)
  }
  if (!operation.primary) {
    return call('createChatInviteLink', { chat_id, ...termsOf(operation) }, toInvite)
  }
  // Answered with the bare link: whoever made it is known.
  return call('exportChatInviteLink', { chat_id }, (result) => ({
    kind: 'invite',
    invite: {
      link: text(result),
      creator: { native: pen.self, firstName: '', isBot: true },
      isPrimary: true,
      isRevoked: false,
      needsApproval: false,
    },
  }))
}

const termsOf = (operation: Of<'invite' | 'edit_invite'>) => ({
  name: operation.name,
  expire_date: operation.expiresAt,
  member_limit: operation.memberLimit,
  creates_join_request: operation.needsApproval,
})

function profilePhotos({ person, offset, limit }: Of<'profile_photos'>): Call {
  const parameters = { user_id: Number(person), offset, limit }
  return call('getUserProfilePhotos', parameters, (result) => {
    const { total_count, photos } = fields(result)
    return { kind: 'photos', total: integer(total_count), photos: array(photos, photoOf) }
  })
}

/** Each permission for itself: without this, some would give others along. */
const independent = { use_independent_chat_permissions: true }

const flags = (all: readonly string[], given: readonly string[]) =>
  Object.fromEntries(all.map((name) => [`can_${name}`, given.includes(name)]))

const toChat = (result: unknown): OperationResult => ({ kind: 'chat', chat: fullChatOf(result) })
