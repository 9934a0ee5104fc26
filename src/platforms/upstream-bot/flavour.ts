/** The networks that speak the bot API, and the data in which they differ. */
import { type Capabilities, type Handlers, operationsOf } from '../../../actors/ports/platform.ts'
import { CONTENT_NAMES } from '../../../machines/model/content.ts'
import { MEDIA_KINDS } from '../../../machines/model/media.ts'
import { UPDATE_KINDS } from '../../../machines/model/update-kinds.ts'
import { ALL_ENTITIES } from '../kit/text.ts'
import { type Context, handlers, type Naming } from './handlers.ts'

export interface Flavour extends Naming {
  /** The platform's name in paths. */
  readonly id: string
  /** getUpdates takes `allowed_updates`. */
  readonly filtersUpdates: boolean
  /** Files come empty on a connection that has had another request before. */
  readonly needsFreshConnections: boolean
  readonly handlers: Handlers<Context>
  readonly capabilities: Capabilities
}

const passing = {
  operations: operationsOf(handlers),
  passesThrough: true,
  buttons: true,
  actionButtons: true,
  replyKeyboards: true,
} as const

export const telegramBot: Flavour = {
  id: 'telegram-bot',
  name: 'Telegram bots',
  methods: {},
  filtersUpdates: true,
  needsFreshConnections: false,
  handlers,
  capabilities: {
    ...passing,
    reference: 'bots',
    surfaces: ['private', 'group', 'supergroup', 'channel'],
    content: CONTENT_NAMES,
    entities: ALL_ENTITIES,
    updates: UPDATE_KINDS,
    limits: {
      textLength: 4096,
      captionLength: 1024,
      deleteWindowSeconds: 172_800,
      fileBytes: 50_000_000,
    },
  },
}

/** Source: its documentation, and third-party clients. */
export const bale: Flavour = {
  id: 'bale',
  name: 'Bale',
  methods: { getchatmembercount: 'getChatMembersCount', unpinchatmessage: 'unPinChatMessage' },
  filtersUpdates: false,
  needsFreshConnections: false,
  handlers,
  capabilities: {
    ...passing,
    surfaces: ['private', 'group', 'channel'],
    content: [
      'text',
      ...MEDIA_KINDS.filter((kind) => kind !== 'video_note'),
      'location',
      'contact',
    ],
    entities: [],
    updates: ['message', 'edited_message', 'callback_query', 'pre_checkout_query'],
    limits: { textLength: 4096, fileBytes: 50_000_000 },
  },
}

/** Source: third-party clients (aiosplus 0.1.0, plustik 0.1.0) and bots, of 2026. */
export const soroush: Flavour = {
  id: 'soroush',
  name: 'Soroush Plus',
  methods: { getchatmembercount: 'getChatMembersCount' },
  filtersUpdates: false,
  needsFreshConnections: true,
  handlers,
  capabilities: {
    ...passing,
    surfaces: ['private', 'group', 'supergroup', 'channel'],
    content: ['text', ...MEDIA_KINDS, 'location', 'contact'],
    entities: ALL_ENTITIES,
    updates: ['message', 'edited_message', 'channel_post', 'edited_channel_post', 'callback_query'],
    limits: { textLength: 4096, captionLength: 1024, fileBytes: 50_000_000 },
  },
}
