/** Operations about chats, their topics and members, and the bot's own profile, as calls of the bot API. */
import type { Handlers } from '../../../../actors/ports/platform.ts'
import type { OperationOf, OperationResult } from '../../../../machines/model/operation.ts'
import { PERMISSIONS, RIGHTS } from '../../../../machines/model/rights.ts'
import { fullChatOf } from '../reading/chat.ts'
import { array, fields, integer, text } from '../reading/fields.ts'
import { photoOf } from '../reading/media.ts'
import { inviteOf, memberOf } from '../reading/membership.ts'
import { surfaceOf } from '../reading/people.ts'
import { topicOf } from '../reading/topic.ts'
import { type Context, threadOf } from './context.ts'

interface InChat {
  readonly chat: string
}

/** A method whose only parameter is the chat. */
const simple =
  (method: string) =>
  (context: Context, { chat }: InChat) =>
    context.call(method, { chat_id: Number(chat) })

const chats: Handlers<Context> = {
  resolve: (context, { name }) => context.call('getChat', { chat_id: `@${name}` }, toChat),

  describe: (context, { chat }) => context.call('getChat', { chat_id: Number(chat) }, toChat),

  set_title: (context, { chat, title }) =>
    context.call('setChatTitle', { chat_id: Number(chat), title }),

  set_description: (context, { chat, description }) =>
    context.call('setChatDescription', { chat_id: Number(chat), description }),

  set_photo(context, { chat, photo: given }) {
    if (!given) return context.call('deleteChatPhoto', { chat_id: Number(chat) })
    const photo = context.attachments.refer(given)
    return context.call('setChatPhoto', { chat_id: Number(chat), photo })
  },

  set_permissions(context, { chat, permissions: given }) {
    const permissions = flags(PERMISSIONS, given)
    const parameters = { chat_id: Number(chat), permissions, ...independent }
    return context.call('setChatPermissions', parameters)
  },

  pin: (context, { chat, message, silent: disable_notification }) =>
    context.call('pinChatMessage', {
      chat_id: Number(chat),
      message_id: Number(message),
      disable_notification,
    }),

  unpin(context, { chat, message }) {
    const message_id = message === undefined ? undefined : Number(message)
    return context.call('unpinChatMessage', { chat_id: Number(chat), message_id })
  },

  unpin_all: simple('unpinAllChatMessages'),

  leave: simple('leaveChat'),

  count_members: (context, { chat }) =>
    context.call('getChatMemberCount', { chat_id: Number(chat) }, (result) => ({
      kind: 'number',
      number: integer(result),
    })),
}

const topics: Handlers<Context> = {
  create_topic: (context, { chat, name, iconColor: icon_color, icon: icon_custom_emoji_id }) =>
    context.call(
      'createForumTopic',
      { chat_id: Number(chat), name, icon_color, icon_custom_emoji_id },
      (result) => ({
        kind: 'topic',
        chat: { native: chat, surface: surfaceOf(Number(chat)), isForum: true },
        topic: topicOf(result),
      }),
    ),

  edit_topic(context, operation) {
    const { name, icon: icon_custom_emoji_id } = operation
    const changed = { name, icon_custom_emoji_id }
    return context.call('editForumTopic', { ...topicIn(operation), ...changed })
  },

  close_topic: (context, operation) => context.call('closeForumTopic', topicIn(operation)),

  reopen_topic: (context, operation) => context.call('reopenForumTopic', topicIn(operation)),

  delete_topic: (context, operation) => context.call('deleteForumTopic', topicIn(operation)),
}

const topicIn = ({ chat, topic }: InChat & { readonly topic: string }) => ({
  chat_id: Number(chat),
  ...threadOf(topic),
})

const members: Handlers<Context> = {
  administrators: (context, { chat }) =>
    context.call('getChatAdministrators', { chat_id: Number(chat) }, (result) => ({
      kind: 'members',
      members: array(result, memberOf),
    })),

  member: (context, operation) =>
    context.call('getChatMember', personIn(operation), (result) => ({
      kind: 'member',
      member: memberOf(result),
    })),

  ban(context, operation) {
    const { until: until_date, deletesMessages: revoke_messages } = operation
    return context.call('banChatMember', { ...personIn(operation), until_date, revoke_messages })
  },

  unban: (context, operation) =>
    context.call('unbanChatMember', {
      ...personIn(operation),
      only_if_banned: operation.onlyIfBanned,
    }),

  restrict: (context, operation) =>
    context.call('restrictChatMember', {
      ...personIn(operation),
      permissions: flags(PERMISSIONS, operation.permissions),
      until_date: operation.until,
      ...independent,
    }),

  promote(context, operation) {
    const { rights, isAnonymous: is_anonymous } = operation
    const parameters = { ...personIn(operation), is_anonymous, ...flags(RIGHTS, rights) }
    return context.call('promoteChatMember', parameters)
  },

  answer_join(context, operation) {
    const method = operation.approves ? 'approveChatJoinRequest' : 'declineChatJoinRequest'
    return context.call(method, personIn(operation))
  },
}

const personIn = ({ chat, person }: InChat & { readonly person: string }) => ({
  chat_id: Number(chat),
  user_id: Number(person),
})

const invites: Handlers<Context> = {
  invite(context, operation) {
    const chat_id = Number(operation.chat)
    if (!operation.primary) {
      const parameters = { chat_id, ...termsOf(operation) }
      return context.call('createChatInviteLink', parameters, toInvite)
    }
    // The answer is the link alone, but its creator is known.
    return context.call('exportChatInviteLink', { chat_id }, (result) => ({
      kind: 'invite',
      invite: {
        link: text(result),
        creator: { native: context.self, firstName: '', isBot: true },
        isPrimary: true,
        isRevoked: false,
        needsApproval: false,
      },
    }))
  },

  edit_invite(context, operation) {
    const { chat, link: invite_link } = operation
    const parameters = { chat_id: Number(chat), invite_link, ...termsOf(operation) }
    return context.call('editChatInviteLink', parameters, toInvite)
  },

  revoke_invite: (context, { chat, link: invite_link }) =>
    context.call('revokeChatInviteLink', { chat_id: Number(chat), invite_link }, toInvite),
}

const termsOf = (operation: OperationOf<'invite' | 'edit_invite'>) => ({
  name: operation.name,
  expire_date: operation.expiresAt,
  member_limit: operation.memberLimit,
  creates_join_request: operation.needsApproval,
})

const profile: Handlers<Context> = {
  profile_photos: (context, { person, offset, limit }) =>
    context.call('getUserProfilePhotos', { user_id: Number(person), offset, limit }, (result) => {
      const { total_count, photos } = fields(result)
      return { kind: 'photos', total: integer(total_count), photos: array(photos, photoOf) }
    }),

  set_name: (context, { firstName, lastName }) =>
    context.call('setMyName', { name: [firstName, lastName].filter(Boolean).join(' ') }),

  set_about: (context, { about }) =>
    context.call('setMyShortDescription', { short_description: about }),

  set_profile_photo(context, { photo }) {
    if (!photo) return context.call('removeMyProfilePhoto', {})
    const given = { type: 'static', photo: context.attachments.refer(photo) }
    return context.call('setMyProfilePhoto', { photo: given })
  },
}

export const chatHandlers = { ...chats, ...topics, ...members, ...invites, ...profile }

/** Each permission counts for itself: otherwise some would imply others. */
const independent = { use_independent_chat_permissions: true }

const flags = (all: readonly string[], given: readonly string[]) =>
  Object.fromEntries(all.map((name) => [`can_${name}`, given.includes(name)]))

const toChat = (result: unknown): OperationResult => ({ kind: 'chat', chat: fullChatOf(result) })

const toInvite = (result: unknown): OperationResult => ({
  kind: 'invite',
  invite: inviteOf(result),
})
