/** The networks that speak the bot API, and the data in which they differ. */
import { type Handlers, operationsOf } from '../../../actors/ports/platform.ts'
import { CONTENT_NAMES } from '../../../machines/model/content-name.ts'
import type { OperationKind } from '../../../machines/model/operation.ts'
import { ALL_ENTITIES } from '../kit/text.ts'
import type { Dialect } from './dialect.ts'
import { chatHandlers } from './writing/chats.ts'
import type { Context } from './writing/context.ts'
import { messages } from './writing/messages.ts'

export interface Flavour extends Dialect {
  /** The platform's name in paths. */
  readonly id: string
  readonly handlers: Handlers<Context>
  /** getUpdates takes `allowed_updates`. */
  readonly filtersUpdates: boolean
}

const handlers: Handlers<Context> = { ...messages, ...chatHandlers }

const some = (kinds: readonly OperationKind[]): Handlers<Context> =>
  Object.fromEntries(kinds.map((kind) => [kind, handlers[kind]]))

export const telegramBot: Flavour = {
  id: 'telegram-bot',
  name: 'Telegram bots',
  methods: {},
  takesEntities: true,
  filtersUpdates: true,
  hasReplyParameters: true,
  hasPreviews: true,
  editsMedia: true,
  handlers,
  capabilities: {
    reference: 'bots',
    operations: operationsOf(handlers),
    passesThrough: true,
    surfaces: ['private', 'group', 'supergroup', 'channel'],
    content: CONTENT_NAMES,
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

const baleHandlers = some([
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
])

/** Source: its documentation, and third-party clients. */
export const bale: Flavour = {
  id: 'bale',
  name: 'Bale',
  methods: { getChatMemberCount: 'getChatMembersCount', unpinChatMessage: 'unPinChatMessage' },
  takesEntities: false,
  filtersUpdates: false,
  hasReplyParameters: false,
  hasPreviews: false,
  editsMedia: false,
  handlers: baleHandlers,
  capabilities: {
    operations: operationsOf(baleHandlers),
    passesThrough: true,
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
