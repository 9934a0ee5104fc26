/** Facts about Telegram that need no library in memory: its capabilities, and its stand-in where it is not configured. */
import {
  type Capabilities,
  type Platform,
  unavailablePlatform,
} from '../../../actors/ports/platform.ts'
import { CONTENT_NAMES } from '../../../machines/model/content.ts'
import { GAME_OPERATIONS } from '../../../machines/model/game.ts'
import { OPERATION_KINDS, type OperationKind } from '../../../machines/model/operation.ts'
import { BOT_OPERATIONS } from '../../../machines/model/operation-bots.ts'
import { EPHEMERAL_OPERATIONS } from '../../../machines/model/operation-ephemeral.ts'
import { INLINE_OPERATIONS } from '../../../machines/model/operation-inline.ts'
import { ALL_ENTITIES } from '../kit/text.ts'

/** Only bots may do these. */
const LACKING: readonly OperationKind[] = [
  'edit_buttons',
  'answer',
  'draft',
  ...INLINE_OPERATIONS,
  'pass',
  'verify',
  'unverify',
  'invoice_link',
  'answer_shipping',
  'answer_checkout',
  'refund_stars',
  'change_subscription',
  ...EPHEMERAL_OPERATIONS,
  ...BOT_OPERATIONS.filter((kind) => kind !== 'personal_messages'),
  ...GAME_OPERATIONS,
  // An account acts for itself alone.
  'transfer_stars',
  'for_business',
  'business_connection',
  'delete_for_business',
]

/**
 * The operations are the keys of `operations/handlers.ts`, which a test holds this to: where Telegram is not configured,
 * they are listed without loading its library of 80 MB.
 */
export const capabilities: Capabilities = {
  reference: 'people',
  quotes: true,
  answersParts: true,
  effects: true,
  ownFileIds: true,
  operations: OPERATION_KINDS.filter((kind) => !LACKING.includes(kind)),
  surfaces: ['private', 'group', 'supergroup', 'channel'],
  content: [...CONTENT_NAMES, 'checklist'],
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
    'message_read',
  ],
  limits: {
    textLength: 4096,
    captionLength: 1024,
    editWindowSeconds: 172_800,
    fileBytes: 2_097_152_000,
  },
}

/** Shown to users, who cannot configure it; the log tells the operator. */
const MISSING = 'Telegram is not set up on this service: ask whoever runs it'

export const facts = {
  id: 'telegram',
  name: 'Telegram',
  ids: 'integer',
  sessions: 'exclusive',
  sends: 'idempotent',
  capabilities,
  linkMethods: [
    {
      method: 'phone',
      fields: [{ name: 'phone', label: 'Phone number', required: true }],
      mayAskPassword: true,
    },
    { method: 'qr', fields: [], mayAskPassword: true },
  ],
} as const

/** Telegram where the service has no registration with it: shown, not usable. */
export const unconfiguredTelegram = (): Platform =>
  unavailablePlatform(facts, {
    description: MISSING,
    lost: (report) => report.lost('not_configured'),
  })
