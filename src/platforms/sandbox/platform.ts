/** The sandbox as a platform of the gateway: its people link their accounts like those of any other network. */
import { type Capabilities, operationsOf, type Platform } from '../../../actors/ports/platform.ts'
import { CONTENT_NAMES, SPECIAL_CONTENT_NAMES } from '../../../machines/model/content.ts'
import { CAPTION_LENGTH, TEXT_LENGTH } from '../../sandbox/messages/content.ts'
import { handlers } from '../../sandbox/operations.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import { ALL_ENTITIES } from '../kit/text.ts'
import { Linking } from './link.ts'
import { SandboxSession, signOut } from './session.ts'

/** The contract suite proves each of these abilities. */
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
  effects: true,
  pollDescriptions: true,
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
    'purchased_paid_media',
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
    'stopped_message_generation',
    'deleted_messages',
    'message_delivered',
    'message_read',
  ],
  limits: { textLength: TEXT_LENGTH, captionLength: CAPTION_LENGTH },
}

export function sandboxPlatform({ services, hub }: Pick<Sandbox, 'services' | 'hub'>): Platform {
  const linking = new Linking(services)
  return {
    id: 'sandbox',
    name: 'Sandbox',
    linkMethods: [
      {
        method: 'phone',
        fields: [{ name: 'phone', label: 'Phone number', required: true }],
        mayAskPassword: true,
      },
      { method: 'token', fields: [{ name: 'token', label: 'Token of a bot', required: true }] },
    ],
    capabilities,
    ids: 'integer',
    sessions: 'shared',
    sends: 'idempotent',
    startLink: (method, fields, _signal, user) => linking.start(user, method, fields),
    resumeLink: (stored) => linking.resume(stored),
    open: (account, report, signal) => {
      const session = new SandboxSession(services, hub, report)
      signal.addEventListener('abort', () => session.abandon(), { once: true })
      void session.open(account)
      return session
    },
    signOut: (secrets) => signOut(services, hub, secrets),
  }
}
