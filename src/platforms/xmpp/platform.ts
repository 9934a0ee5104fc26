/** The XMPP network: accounts of any server, linked by JID and password. */
import { type Capabilities, operationsOf, type Platform } from '../../../actors/ports/platform.ts'
import { createGuardedAgent } from '../../net/guard.ts'
import { definePlatform } from '../kit/platform.ts'
import { Passages } from '../kit/steadily.ts'
import { SUPPORTED, TEXT_LENGTH } from './content.ts'
import { handlers } from './handlers.ts'
import { link } from './link.ts'
import { OwedRooms } from './rooms/kept.ts'
import { SaltedKeys } from './sasl/scram.ts'
import { parseSecrets } from './secrets.ts'
import { type SessionOptions, XmppSession } from './session.ts'

/** The capabilities of XMPP here; the contract suite holds it to them. */
export const capabilities: Capabilities = {
  operations: operationsOf(handlers),
  surfaces: ['private', 'supergroup'],
  content: SUPPORTED,
  gifs: true,
  cosmetic: [
    'disable_notification',
    'protect_content',
    'show_caption_above_media',
    'has_spoiler',
    'link_preview_options',
    'disable_web_page_preview',
    'foursquare_id',
    'foursquare_type',
    'google_place_id',
    'google_place_type',
    'cover',
    'start_timestamp',
    'video_start_timestamp',
  ],
  buttons: false,
  entities: ['bold', 'italic', 'strikethrough', 'code', 'pre', 'blockquote'],
  updates: [
    'message',
    'edited_message',
    'deleted_messages',
    'my_chat_member',
    'message_reaction',
    'message_delivered',
    'message_read',
  ],
  limits: { textLength: TEXT_LENGTH },
}

type Optional =
  | 'resumeMilliseconds'
  | 'confirmMilliseconds'
  | 'tendMilliseconds'
  | 'settleMilliseconds'
  | 'agent'
  | 'keys'
  | 'passages'
  | 'owed'

export type XmppOptions = Omit<SessionOptions, Optional> & Partial<Pick<SessionOptions, Optional>>

const defaults = {
  resumeMilliseconds: 20_000,
  confirmMilliseconds: 20_000,
  tendMilliseconds: 60_000,
  // The first is shorter than the time after which the checkpoint passes a message, see `RecentIds`.
  settleMilliseconds: [2_500, 7_500],
}

/** To each origin; more than one user may hold. */
const CONNECTIONS = 128

export function xmppPlatform(options: XmppOptions): Platform {
  const { allowPrivate } = options
  // For all accounts together: uploads and downloads of many of them go to one host.
  const agent = createGuardedAgent({ allowPrivate, connections: CONNECTIONS })
  const keys = new SaltedKeys()
  const passages = new Passages()
  const owed = new OwedRooms()
  const sessionOptions: SessionOptions = { agent, keys, passages, owed, ...defaults, ...options }
  return definePlatform({
    id: 'xmpp',
    name: 'XMPP',
    ids: 'mapped',
    sessions: 'displacing',
    sends: 'findable',
    capabilities,
    linkMethods: [
      {
        method: 'password',
        fields: [
          { name: 'jid', label: 'JID', required: true },
          { name: 'password', label: 'Password', required: true, secret: true },
          { name: 'server', label: 'Server (xmpp://host:port)', required: false },
        ],
      },
    ],
    logger: options.logger,
    startLink: (_method, fields, signal) => link(fields, sessionOptions, signal),
    parseSecrets,
    open: (account, secrets, report) => new XmppSession(account, secrets, report, sessionOptions),
  })
}
