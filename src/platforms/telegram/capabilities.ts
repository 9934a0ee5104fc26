/** What an account of Telegram can do here; the contract suite holds it to this. */
import type { Capabilities } from '../../../actors/ports/platform.ts'
import { CONTENT_NAMES } from '../../../machines/model/content-name.ts'
import { OPERATION_KINDS, type OperationKind } from '../../../machines/model/operation.ts'
import { ALL_ENTITIES } from '../kit/text.ts'

/** Only bots may do the first three. */
const LACKING: readonly OperationKind[] = ['edit_buttons', 'answer', 'draft', 'sticker_set']

/**
 * The operations are the keys of `operations/handlers.ts`, which a test holds this to: where Telegram is not configured,
 * they are listed without loading its library of 80 MB.
 */
export const capabilities: Capabilities = {
  reference: 'people',
  operations: OPERATION_KINDS.filter((kind) => !LACKING.includes(kind)),
  surfaces: ['private', 'group', 'supergroup', 'channel'],
  content: CONTENT_NAMES,
  // Only bots may attach them.
  buttons: false,
  entities: ALL_ENTITIES,
  updates: [
    'message',
    'edited_message',
    'channel_post',
    'edited_channel_post',
    'message_reaction',
    'message_reaction_count',
    'poll',
    'my_chat_member',
    'chat_member',
    'chat_join_request',
    'deleted_messages',
  ],
  limits: {
    textLength: 4096,
    captionLength: 1024,
    editWindowSeconds: 172_800,
    fileBytes: 2_097_152_000,
  },
}
