/** What messages carry, on the wire under /sandbox: as people give it, and as it is shown. */
import { Type } from 'typebox'
import { MEDIA_KINDS } from '../../../machines/model/content.ts'
import { Entity, Id } from './schemas.ts'

const strict = { additionalProperties: false }
const optional = Type.Optional
const Entities = Type.Array(Entity, { maxItems: 1000 })

const Kind = Type.Enum([...MEDIA_KINDS])

/** Base64 of twelve megabytes; what is larger comes from an address. */
const DATA_LENGTH = 16_000_000
export const BODY_LIMIT = 16_500_000

const caption = {
  caption: optional(Type.String({ maxLength: 20_000 })),
  caption_entities: optional(Entities),
  show_caption_above_media: optional(Type.Boolean()),
  has_spoiler: optional(Type.Boolean()),
}

const figures = {
  duration: optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  width: optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  height: optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  title: optional(Type.String({ maxLength: 200 })),
  performer: optional(Type.String({ maxLength: 200 })),
  emoji: optional(Type.String({ maxLength: 20 })),
}

export const GivenMedia = Type.Object(
  {
    type: Kind,
    data: optional(Type.String({ maxLength: DATA_LENGTH, description: 'The bytes in base64' })),
    url: optional(Type.String({ maxLength: 4096, description: 'Where they are fetched from' })),
    file: optional(Type.String({ maxLength: 100, description: 'A file that was sent before' })),
    file_name: optional(Type.String({ maxLength: 255 })),
    mime_type: optional(Type.String({ maxLength: 255 })),
    ...figures,
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
export const Place = Type.Object(place, strict)

const Words = (maxLength: number) => Type.String({ minLength: 1, maxLength })

export const VenueBody = Type.Object({ title: Words(255), address: Words(255) }, strict)

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

export const GivenPoll = Type.Object(
  {
    question: Words(300),
    options: Type.Array(Words(100), { minItems: 1, maxItems: 12 }),
    is_anonymous: Type.Boolean({ default: true }),
    type: Type.Enum(['regular', 'quiz'], { default: 'regular' }),
    allows_multiple_answers: Type.Boolean({ default: false }),
    correct_option_ids: optional(Type.Array(Type.Integer({ minimum: 0, maximum: 11 }))),
    explanation: optional(Type.String({ maxLength: 200 })),
    open_period: optional(Type.Integer({ minimum: 1, maximum: 2_628_000 })),
  },
  strict,
)

export const PollBody = Type.Object({
  id: Type.String(),
  question: Type.String(),
  options: Type.Array(Type.Object({ text: Type.String(), voter_count: Type.Integer() })),
  total_voter_count: Type.Integer(),
  is_closed: Type.Boolean(),
  is_anonymous: Type.Boolean(),
  type: Type.String(),
  allows_multiple_answers: Type.Boolean(),
  correct_option_ids: optional(Type.Array(Type.Integer())),
  explanation: optional(Type.String()),
  close_date: optional(Type.Integer()),
})

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
  location: optional(Place),
  venue: optional(VenueBody),
  contact: optional(ContactBody),
  poll: optional(GivenPoll),
  dice: optional(Type.Object({ emoji: Type.String({ default: '🎲' }) }, strict)),
}

const shownFigures = {
  duration: optional(Type.Integer()),
  width: optional(Type.Integer()),
  height: optional(Type.Integer()),
  title: optional(Type.String()),
  performer: optional(Type.String()),
  emoji: optional(Type.String()),
}

export const ShownMedia = Type.Object({
  type: Kind,
  file: Type.String(),
  url: Type.String({ description: 'Where the bytes are, for whoever may see this' }),
  file_name: optional(Type.String()),
  mime_type: optional(Type.String()),
  file_size: optional(Type.Integer()),
  ...shownFigures,
  set_name: optional(Type.String()),
  has_spoiler: optional(Type.Boolean()),
})

export const TopicLook = Type.Object({
  name: Type.String(),
  icon_color: Type.Integer(),
  icon_custom_emoji_id: optional(Type.String()),
})

export const shownContent = {
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
}
