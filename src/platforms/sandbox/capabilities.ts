/** What the sandbox can do; the contract suite proves each of it. */
import type { Capabilities } from '../../../actors/platform.ts'

export const capabilities: Capabilities = {
  operations: ['send', 'edit', 'delete', 'forward', 'copy', 'act', 'answer', 'resolve', 'describe'],
  surfaces: ['private', 'group', 'supergroup', 'channel'],
  content: ['text'],
  buttons: true,
  entities: [
    'mention',
    'hashtag',
    'cashtag',
    'bot_command',
    'url',
    'email',
    'phone_number',
    'bold',
    'italic',
    'underline',
    'strikethrough',
    'spoiler',
    'blockquote',
    'expandable_blockquote',
    'code',
    'pre',
    'text_link',
    'text_mention',
    'custom_emoji',
  ],
  updates: [
    'message',
    'edited_message',
    'channel_post',
    'edited_channel_post',
    'callback_query',
    'deleted_messages',
  ],
  limits: { textLength: 4096 },
}
