/** The networks that speak the bot API, and all that tells them apart. */
import type { Capabilities } from '../../../actors/ports/platform.ts'
import { ALL_ENTITIES } from '../kit/text.ts'

export interface Flavour {
  /** The platform's name in paths. */
  readonly id: string
  readonly name: string
  readonly capabilities: Capabilities
  /** Where its methods are named differently. */
  readonly methods: Readonly<Record<string, string>>
  /** Texts take their formatting as entities; without, they go out plain. */
  readonly takesEntities: boolean
  /** getUpdates takes `allowed_updates`. */
  readonly filtersUpdates: boolean
  /** A reply is named by `reply_parameters`; without, by `reply_to_message_id`. */
  readonly hasReplyParameters: boolean
  /** What is shown of a linked page can be chosen. */
  readonly hasPreviews: boolean
  /** The file of a message can be changed. */
  readonly editsMedia: boolean
}

export const telegramBot: Flavour = {
  id: 'telegram-bot',
  name: 'Telegram bots',
  methods: {},
  takesEntities: true,
  filtersUpdates: true,
  hasReplyParameters: true,
  hasPreviews: true,
  editsMedia: true,
  capabilities: {
    reference: 'bots',
    operations: [
      'send',
      'send_album',
      'edit',
      'edit_caption',
      'edit_buttons',
      'edit_location',
      'stop_poll',
      'delete',
      'forward',
      'copy',
      'react',
      'remove_reaction',
      'act',
      'answer',
      'create_topic',
      'edit_topic',
      'close_topic',
      'reopen_topic',
      'delete_topic',
      'draft',
      'sticker_set',
      'resolve',
      'describe',
      'set_title',
      'set_description',
      'set_photo',
      'set_permissions',
      'pin',
      'unpin',
      'unpin_all',
      'leave',
      'administrators',
      'count_members',
      'member',
      'ban',
      'unban',
      'restrict',
      'promote',
      'invite',
      'edit_invite',
      'revoke_invite',
      'answer_join',
      'profile_photos',
      'set_name',
      'set_about',
      'set_profile_photo',
    ],
    surfaces: ['private', 'group', 'supergroup', 'channel'],
    content: [
      'text',
      'photo',
      'video',
      'animation',
      'audio',
      'voice',
      'video_note',
      'document',
      'sticker',
      'location',
      'venue',
      'contact',
      'poll',
      'dice',
    ],
    buttons: true,
    actionButtons: true,
    replyKeyboards: true,
    entities: ALL_ENTITIES,
    updates: [
      'message',
      'edited_message',
      'channel_post',
      'edited_channel_post',
      'callback_query',
      'my_chat_member',
      'chat_member',
      'chat_join_request',
      'message_reaction',
      'message_reaction_count',
      'poll',
      'poll_answer',
    ],
    limits: {
      textLength: 4096,
      captionLength: 1024,
      deleteWindowSeconds: 172_800,
      fileBytes: 50_000_000,
    },
  },
}

/** After its documentation and the clients that others wrote for it. */
export const bale: Flavour = {
  id: 'bale',
  name: 'Bale',
  methods: { getChatMemberCount: 'getChatMembersCount', unpinChatMessage: 'unPinChatMessage' },
  takesEntities: false,
  filtersUpdates: false,
  hasReplyParameters: false,
  hasPreviews: false,
  editsMedia: false,
  capabilities: {
    operations: [
      'send',
      'send_album',
      'edit',
      'edit_caption',
      'edit_buttons',
      'delete',
      'forward',
      'copy',
      'act',
      'answer',
      'resolve',
      'describe',
      'set_title',
      'set_description',
      'set_photo',
      'pin',
      'unpin',
      'unpin_all',
      'leave',
      'administrators',
      'count_members',
      'member',
      'ban',
      'unban',
      'promote',
      'invite',
      'revoke_invite',
    ],
    surfaces: ['private', 'group', 'channel'],
    content: [
      'text',
      'photo',
      'video',
      'animation',
      'audio',
      'voice',
      'document',
      'sticker',
      'location',
      'contact',
    ],
    cosmetic: [
      'parse_mode',
      'entities',
      'caption_entities',
      'link_preview_options',
      'disable_web_page_preview',
    ],
    buttons: true,
    actionButtons: true,
    replyKeyboards: true,
    entities: [],
    updates: ['message', 'edited_message', 'callback_query'],
    limits: { textLength: 4096, fileBytes: 50_000_000 },
  },
}
