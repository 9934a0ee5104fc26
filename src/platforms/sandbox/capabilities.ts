/** The abilities of the sandbox. The contract suite proves each of them. */

import { type Capabilities, operationsOf } from '../../../actors/ports/platform.ts'
import { CONTENT_NAMES, SPECIAL_CONTENT_NAMES } from '../../../machines/model/content.ts'
import { CAPTION_LENGTH, TEXT_LENGTH } from '../../sandbox/messages/content.ts'
import { handlers } from '../../sandbox/operations.ts'
import { ALL_ENTITIES } from '../kit/text.ts'

export const capabilities: Capabilities = {
  operations: operationsOf(handlers),
  surfaces: ['private', 'group', 'supergroup', 'channel'],
  // No payment leaves the sandbox: there is no provider to send these to.
  cosmetic: [
    'disable_notification',
    'provider_data',
    'send_email_to_provider',
    'send_phone_number_to_provider',
  ],
  content: [...CONTENT_NAMES, ...SPECIAL_CONTENT_NAMES],
  buttons: true,
  actionButtons: true,
  replyKeyboards: true,
  quotes: true,
  entities: ALL_ENTITIES,
  updates: [
    'message',
    'edited_message',
    'channel_post',
    'edited_channel_post',
    'guest_message',
    'callback_query',
    'inline_query',
    'chosen_inline_result',
    'shipping_query',
    'pre_checkout_query',
    'subscription',
    'my_chat_member',
    'chat_member',
    'chat_join_request',
    'message_reaction',
    'message_reaction_count',
    'poll',
    'poll_answer',
    'business_connection',
    'business_message',
    'edited_business_message',
    'deleted_business_messages',
    'chat_boost',
    'removed_chat_boost',
    'managed_bot',
    'deleted_messages',
    'message_delivered',
    'message_read',
  ],
  limits: { textLength: TEXT_LENGTH, captionLength: CAPTION_LENGTH },
}
