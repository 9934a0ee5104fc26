/** Schemas of groups with their members and topics, and of a person's possessions, subscriptions and requests in answers under /sandbox. The panel reads them too. */
import { Type } from 'typebox'
import { BUSINESS_RIGHTS } from '../../../machines/model/business.ts'
import { RIGHTS } from '../../../machines/model/rights.ts'
import { ShownMedia } from './content-schemas.ts'
import {
  Chat,
  InvoiceBody,
  PersonName,
  shownContent,
  Time,
  TopicLook,
  Verification,
} from './schemas.ts'

const optional = Type.Optional

export const ChatWithMembers = Type.Object({
  ...Chat.properties,
  verification: Verification,
  photo: optional(ShownMedia),
  slow_mode_delay: optional(
    Type.Integer({ description: 'Seconds that an ordinary member waits between two messages' }),
  ),
  members: Type.Array(
    Type.Object({
      person: PersonName,
      role: Type.String(),
      title: optional(Type.String({ description: 'Of an administrator' })),
      tag: optional(Type.String({ description: 'Of an ordinary member' })),
    }),
  ),
  general_topic: optional(
    Type.Object(
      { name: Type.String(), is_closed: Type.Boolean(), is_hidden: Type.Boolean() },
      { description: 'Only of a forum: where messages stand that are in no other topic' },
    ),
  ),
})

export const StickerSet = Type.Object({
  name: Type.String(),
  title: Type.String(),
  sticker_type: Type.Enum(['regular', 'mask', 'custom_emoji']),
  stickers: Type.Array(ShownMedia),
})

export const Gift = Type.Object({
  id: Type.String(),
  sticker: ShownMedia,
  star_count: Type.Integer(),
  upgrade_star_count: optional(Type.Integer()),
  total_count: optional(Type.Integer()),
  remaining_count: optional(Type.Integer()),
})

export const OwnedGift = Type.Object({
  owned_gift_id: Type.String(),
  gift: Gift,
  sender: optional(PersonName),
  date: Type.Integer(),
  text: optional(Type.String()),
  is_saved: Type.Boolean(),
  convert_star_count: optional(
    Type.Integer({ description: 'What the owner gets for it; absent: it cannot be converted' }),
  ),
  unique: optional(Type.Object({ name: Type.String(), number: Type.Integer() })),
})

export const Boost = Type.Object({
  boost_id: Type.String(),
  person: PersonName,
  add_date: Type.Integer(),
  expiration_date: Type.Integer(),
})

export const BusinessRights = Type.Enum([...BUSINESS_RIGHTS])

export const BusinessConnection = Type.Object({
  business_connection_id: Type.String(),
  account: Type.Integer({ description: 'The account that acts for the person' }),
  rights: Type.Array(BusinessRights, { description: "The reference's names without `can_`" }),
  is_enabled: Type.Boolean(),
})

const { media, caption, caption_entities } = shownContent

export const Story = Type.Object({
  person: PersonName,
  story_id: Type.Integer(),
  media,
  caption,
  caption_entities,
  posted_at: Time,
  expires_at: Time,
  is_kept: Type.Boolean({ description: 'Still shown when its time is over' }),
  has_protected_content: Type.Boolean(),
})

export const JoinRequest = Type.Object({
  chat: Type.Object({ id: Type.Integer(), title: Type.String() }),
  date: Type.Integer(),
  bot: optional(Type.Integer({ description: 'The account that answers it' })),
  web_app_url: optional(Type.String({ description: 'What the bot shows to the person' })),
})

export const OpenRequest = Type.Object({
  person: PersonName,
  date: Type.Integer(),
  bio: optional(Type.String()),
})

export const InviteLook = Type.Object({
  title: Type.String({ description: 'Of the chat' }),
  type: Type.String(),
  needs_approval: Type.Boolean(),
  subscription: optional(
    Type.Object({ star_count: Type.Integer(), period: Type.Integer({ description: 'Seconds' }) }),
  ),
})

export const OfferedRights = Type.Object({
  rights: Type.Array(Type.Enum([...RIGHTS]), {
    description: "The reference's names without `can_`",
  }),
  is_anonymous: Type.Boolean(),
  is_asked: Type.Boolean({ description: 'The bot asks for them; else they are the usual ones' }),
})

export const Community = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  is_own: Type.Boolean(),
  chats: Type.Array(
    Type.Object({
      id: Type.Integer(),
      type: Type.String(),
      title: optional(Type.String()),
      is_inside: Type.Boolean({ description: 'The person is in it' }),
    }),
  ),
  bots: Type.Array(PersonName),
})

export const Topic = Type.Object({
  message_thread_id: Type.Integer(),
  ...TopicLook.properties,
  is_closed: Type.Boolean(),
})

export const ManagedBot = Type.Object({
  bot: PersonName,
  manager: PersonName,
  token: Type.String({ description: 'Links the bot, until it is replaced' }),
})

export const Subscription = Type.Object({
  title: Type.String({ description: 'Of the invoice, or of the channel' }),
  star_count: Type.Integer({ description: 'What each period costs' }),
  expires_at: Time,
  charge_id: optional(
    Type.String({ description: "To a bot: the payment's. One to a channel ends by leaving it" }),
  ),
  is_canceled: Type.Boolean(),
})

export const LinkedInvoice = Type.Object({ bot: PersonName, invoice: InvoiceBody })
