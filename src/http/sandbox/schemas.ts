/** The bodies of requests and answers under /sandbox, as schemas. */
import { Type } from 'typebox'
import { Nullable } from '../../json/schemas.ts'
import { USERNAME } from '../validation.ts'
import {
  GivenPoll,
  givenFile,
  PaidMediaBody,
  PollBody,
  RichBody,
  ShownMedia,
  VenueBody,
} from './content-schemas.ts'
import { ReplyKeyboard, ShownKeyboard } from './keyboard-schemas.ts'

const strict = { additionalProperties: false }
const optional = Type.Optional

export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const ChatId = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: "A person's id for the private chat with them, else the id of a group or channel",
})
export const Time = Type.String({ format: 'date-time' })
const Name = Type.String({ minLength: 1, maxLength: 64 })
export const Username = Type.String({ pattern: USERNAME })

export const Addressee = Type.Union(
  [ChatId, Type.String({ pattern: '^@[A-Za-z][A-Za-z0-9_]*$' })],
  { title: 'SandboxAddressee' },
)

export const Entity = Type.Object(
  {
    type: Type.String({ minLength: 1, maxLength: 40 }),
    offset: Type.Integer({ minimum: 0 }),
    length: Type.Integer({ minimum: 1 }),
    url: optional(Type.String()),
    language: optional(Type.String()),
    custom_emoji_id: optional(Type.String()),
    user_id: optional(Id),
    unix_time: optional(Type.Integer({ minimum: 1, maximum: 0x7fffffff })),
    date_time_format: optional(Type.String({ maxLength: 10 })),
  },
  strict,
)

/** A literal part of the answered message; if it occurs several times, the place nearest to `position` counts. */
export const QuoteBody = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: 1024 }),
    entities: optional(Type.Array(Entity, { maxItems: 100 })),
    position: Type.Integer({ minimum: 0, maximum: 100_000, default: 0 }),
  },
  strict,
)

export const NewPerson = Type.Object(
  {
    phone: optional(Type.String({ description: 'E.164; one is made up when left out' })),
    first_name: Name,
    last_name: optional(Name),
    username: optional(Username),
    language_code: optional(Type.String({ maxLength: 35 })),
    password: optional(Type.String({ minLength: 1, maxLength: 256 })),
    password_hint: optional(Type.String({ maxLength: 256 })),
  },
  strict,
)

export const PersonChange = Type.Object(
  {
    first_name: optional(Name),
    last_name: optional(Nullable(Name)),
    username: optional(Nullable(Username)),
    deactivated: optional(Type.Boolean()),
  },
  strict,
)

export const Faults = Type.Object({
  drop: optional(Type.Object({ until: Time })),
  silence: optional(Type.Object({})),
  flood_wait: optional(Type.Object({ until: Time })),
  delay: optional(Type.Object({ milliseconds: Type.Integer() })),
  duplicate: optional(Type.Object({})),
  reorder: optional(Type.Object({})),
  lose_answers: optional(Type.Object({ times: Type.Integer() })),
  ban: optional(Type.Object({})),
})

export const Verification = Nullable(
  Type.Object({ by: Type.Integer(), description: Type.String() }),
)

export const Person = Type.Object({
  id: Type.Integer(),
  phone: Type.String(),
  username: Nullable(Type.String()),
  first_name: Type.String(),
  last_name: Nullable(Type.String()),
  language_code: Nullable(Type.String()),
  has_password: Type.Boolean(),
  deactivated: Type.Boolean(),
  linked_sessions: Type.Integer(),
  faults: Faults,
  star_balance: Type.Integer({ description: 'Telegram Stars' }),
  verification: Verification,
  photo: optional(ShownMedia),
  is_premium: optional(Type.Boolean()),
  emoji_status_custom_emoji_id: optional(Type.String()),
  created_at: Time,
})

export const PersonName = Type.Object({
  id: Type.Integer(),
  first_name: Type.String(),
  last_name: optional(Type.String()),
  username: optional(Type.String()),
})

export const Chat = Type.Object({
  id: Type.Integer(),
  type: Type.String(),
  title: optional(Type.String()),
  first_name: optional(Type.String()),
  last_name: optional(Type.String()),
  username: optional(Type.String()),
  description: optional(Type.String()),
  is_forum: optional(Type.Boolean()),
  direct_with: optional(PersonName),
})

const Entities = Type.Array(Entity, { maxItems: 1000 })

export const BODY_LIMIT = 16_500_000

const caption = {
  caption: optional(Type.String({ maxLength: 20_000 })),
  caption_entities: optional(Entities),
  show_caption_above_media: optional(Type.Boolean()),
  has_spoiler: optional(Type.Boolean()),
}

export const GivenMedia = Type.Object(
  {
    ...givenFile,
    ...caption,
  },
  strict,
)

const place = {
  latitude: Type.Number({ minimum: -90, maximum: 90 }),
  longitude: Type.Number({ minimum: -180, maximum: 180 }),
  horizontal_accuracy: optional(Type.Number({ minimum: 0, maximum: 1500 })),
  live_period: optional(Type.Integer({ minimum: 60, maximum: 0x7fffffff })),
  heading: optional(Type.Integer({ minimum: 1, maximum: 360 })),
  proximity_alert_radius: optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
}
export const LocationBody = Type.Object(place, strict)

const Words = (maxLength: number) => Type.String({ minLength: 1, maxLength })

export const ContactBody = Type.Object(
  {
    phone_number: Words(64),
    first_name: Words(64),
    last_name: optional(Type.String({ maxLength: 64 })),
    vcard: optional(Type.String({ maxLength: 2048 })),
    user_id: optional(Id),
  },
  strict,
)

export const ReactionBody = Type.Object(
  { emoji: optional(Words(32)), custom_emoji_id: optional(Words(64)) },
  strict,
)

/** One of these at a time; `album` is several media in one message. */
export const givenContent = {
  text: optional(Words(20_000)),
  entities: optional(Entities),
  media: optional(GivenMedia),
  album: optional(Type.Array(GivenMedia, { minItems: 1, maxItems: 10 })),
  location: optional(LocationBody),
  venue: optional(VenueBody),
  contact: optional(ContactBody),
  poll: optional(GivenPoll),
  dice: optional(Type.Object({ emoji: Type.String({ default: '🎲' }) }, strict)),
}

export const TopicLook = Type.Object({
  name: Type.String(),
  icon_color: Type.Integer(),
  icon_custom_emoji_id: optional(Type.String()),
})

const ChecklistBody = Type.Object({
  title: Type.String(),
  tasks: Type.Array(
    Type.Object({ id: Type.Integer(), text: Type.String(), done_by: optional(PersonName) }),
  ),
  others_can_add_tasks: Type.Boolean(),
  others_can_mark_tasks_as_done: Type.Boolean(),
})

export const InvoiceBody = Type.Object({
  title: Type.String(),
  description: Type.String(),
  currency: Type.String(),
  total_amount: Type.Integer(),
  prices: Type.Array(Type.Object({ label: Type.String(), amount: Type.Integer() })),
  asks: Type.Array(Type.String(), { description: 'What a buyer has to tell' }),
  is_flexible: Type.Boolean(),
  max_tip_amount: Type.Integer(),
  suggested_tip_amounts: Type.Array(Type.Integer()),
  photo_url: optional(Type.String()),
  subscription_period: optional(Type.Integer()),
})

export const shownContent = {
  checklist: optional(ChecklistBody),
  rich: optional(RichBody),
  text: optional(Type.String()),
  entities: optional(Type.Array(Entity)),
  media: optional(ShownMedia),
  caption: optional(Type.String()),
  caption_entities: optional(Type.Array(Entity)),
  location: optional(Type.Object(place)),
  venue: optional(VenueBody),
  contact: optional(ContactBody),
  poll: optional(PollBody),
  dice: optional(Type.Object({ emoji: Type.String(), value: Type.Integer() })),
  shared: optional(
    Type.Object(
      {
        request_id: Type.Integer(),
        user_ids: optional(Type.Array(Type.Integer())),
        chat_id: optional(Type.Integer()),
      },
      { description: 'The people or the chat that a key asked for' },
    ),
  ),
  invoice: optional(InvoiceBody),
  paid_media: optional(PaidMediaBody),
  game: optional(
    Type.Object({
      name: Type.String(),
      title: Type.String(),
      description: Type.String(),
      text: optional(Type.String({ description: 'The scores, or what the bot wrote' })),
      photo: optional(ShownMedia),
    }),
  ),
  payment: optional(
    Type.Object({
      currency: Type.String(),
      total_amount: Type.Integer(),
      charge_id: Type.String(),
    }),
  ),
  web_app_data: optional(Type.Object({ button_text: Type.String(), data: Type.String() })),
}

export const StandingKeyboard = Type.Object({
  chat: Chat,
  person: PersonName,
  message_id: Type.Integer({ description: 'The message that brought it' }),
  ...ReplyKeyboard.properties,
  used: Type.Boolean({ description: 'One for once was used: hidden until it is called back' }),
})

export const Message = Type.Object({
  message_id: Type.Integer(),
  chat: Chat,
  from: optional(PersonName),
  date: Type.Integer(),
  edit_date: optional(Type.Integer()),
  media_group_id: optional(Type.String()),
  has_protected_content: optional(Type.Boolean()),
  effect_id: optional(Type.String({ description: 'It came with this effect, which plays once' })),
  ...shownContent,
  service: optional(Type.String({ description: '`joined`, `left` …' })),
  topic: optional(TopicLook),
  message_thread_id: optional(Type.Integer({ description: 'The topic it stands in' })),
  receiver: optional(PersonName),
  ephemeral_message_id: optional(Type.Integer({ description: 'Only the receiver sees it' })),
  replaces_message_id: optional(Type.Integer({ description: 'It is shown in the place of this' })),
  reply_to_message_id: optional(Type.Integer()),
  quote: optional(QuoteBody),
  external_reply: optional(
    Type.Object(
      {
        from: Type.String({ description: 'The name of whoever wrote the message answered' }),
        chat: optional(Chat),
        message_id: optional(Type.Integer()),
        ...shownContent,
      },
      { description: 'A message of another chat that this one answers' },
    ),
  ),
  via_bot: optional(PersonName),
  guest_caller: optional(PersonName),
  sender_chat: optional(Chat),
  suggestion: optional(
    Type.Object({
      state: Type.Enum(['pending', 'approved', 'declined']),
      star_count: optional(Type.Integer()),
      send_date: optional(Type.Integer()),
    }),
  ),
  forwarded_from: optional(Type.String({ description: 'The name of the first origin' })),
  inline_keyboard: optional(ShownKeyboard),
})

/** One of an album is shown first, and all of them in `album`. */
export const Sent = Type.Object({
  ...Message.properties,
  album: optional(Type.Array(Message)),
})

export const Received = Type.Object({
  ...Message.properties,
  keyboard: optional(ReplyKeyboard),
  is_pinned: optional(Type.Boolean()),
  reactions: optional(Type.Array(Type.Object({ person: PersonName, ...ReactionBody.properties }))),
})

export const Inbox = Type.Object({
  tag: Type.String({ description: 'Another one for everything else there is to see' }),
  messages: Type.Array(Received),
  ephemeral: Type.Array(Message, {
    description: 'Messages that only this person and the other side see, newest first',
  }),
  typing: Type.Array(
    Type.Object({
      chat: Chat,
      person: PersonName,
      action: Type.String(),
      message_thread_id: Type.Optional(Type.Integer()),
    }),
  ),
  drafts: Type.Array(
    Type.Object({
      chat: Chat,
      person: PersonName,
      draft_id: Type.Integer(),
      text: Type.String({ description: 'As far as it is written; empty while it is thought of' }),
      entities: Type.Optional(Type.Array(Entity)),
      can_stop: Type.Boolean({ description: 'It has a button by which this person stops it' }),
    }),
    { description: 'Messages that are being written' },
  ),
  keyboards: Type.Array(StandingKeyboard, {
    description: 'What stands in the place of the ordinary keyboard, at most one a chat',
  }),
  codes: Type.Array(Type.Object({ code: Type.String(), sent_at: Time, expires_at: Time })),
})
