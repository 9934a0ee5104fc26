/** Files, polls and rich messages under /sandbox, as they are given and shown. */
import { type Static, Type } from 'typebox'
import { MEDIA_KINDS } from '../../../machines/model/media.ts'
import type { RichBlock, RichListItem } from '../../../machines/model/rich.ts'

const optional = Type.Optional
const strict = { additionalProperties: false }

const Words = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const Kind = Type.Enum([...MEDIA_KINDS])

/** Base64 of twelve megabytes; larger files are fetched from a URL. */
const DATA_LENGTH = 16_000_000

export const givenFile = {
  type: Kind,
  data: optional(Type.String({ maxLength: DATA_LENGTH, description: 'The bytes in base64' })),
  url: optional(Type.String({ maxLength: 4096, description: 'Where they are fetched from' })),
  file: optional(Type.String({ maxLength: 100, description: 'A file that was sent before' })),
  file_name: optional(Type.String({ maxLength: 255 })),
  mime_type: optional(Type.String({ maxLength: 255 })),
  duration: optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  width: optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  height: optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  title: optional(Type.String({ maxLength: 200 })),
  performer: optional(Type.String({ maxLength: 200 })),
  emoji: optional(Type.String({ maxLength: 20 })),
}

const shownFigures = {
  duration: optional(Type.Integer()),
  width: optional(Type.Integer()),
  height: optional(Type.Integer()),
  title: optional(Type.String()),
  performer: optional(Type.String()),
  emoji: optional(Type.String()),
}

const shownFile = {
  type: Kind,
  file: Type.String(),
  url: Type.String({ description: 'Where the bytes are, for whoever may see this' }),
  file_name: optional(Type.String()),
  mime_type: optional(Type.String()),
  file_size: optional(Type.Integer()),
  ...shownFigures,
  set_name: optional(Type.String()),
  custom_emoji_id: optional(Type.String()),
  start_timestamp: optional(Type.Integer()),
  has_spoiler: optional(Type.Boolean()),
}

export const ShownMedia = Type.Object({
  ...shownFile,
  cover: optional(Type.Object(shownFile, { description: 'The photo that stands for a video' })),
  live: optional(
    Type.Object(shownFile, {
      description: 'Only of a live photo: the video of the seconds around it',
    }),
  ),
})

export const PaidMediaBody = Type.Object({
  star_count: Type.Integer(),
  items: Type.Array(
    Type.Object({
      media: optional(ShownMedia),
      duration: optional(Type.Integer()),
      width: optional(Type.Integer()),
      height: optional(Type.Integer()),
    }),
    { description: 'Without `media` where this person has not paid' },
  ),
})

export const VenueBody = Type.Object({ title: Words(255), address: Words(255) }, strict)

/** The media of a part of a poll: one of the three, a place also with its name. */
export const GivenPollMedia = Type.Object(
  {
    media: optional(Type.Object(givenFile, strict)),
    location: optional(
      Type.Object(
        {
          latitude: Type.Number({ minimum: -90, maximum: 90 }),
          longitude: Type.Number({ minimum: -180, maximum: 180 }),
          horizontal_accuracy: optional(Type.Number({ minimum: 0, maximum: 1500 })),
        },
        strict,
      ),
    ),
    venue: optional(VenueBody),
    url: optional(Type.String({ maxLength: 4096, description: 'The address of a page' })),
  },
  strict,
)

const GivenOption = Type.Union([
  Words(100),
  Type.Object(
    { text: Words(100), media: optional(GivenPollMedia) },
    { ...strict, title: 'SandboxGivenPollOption' },
  ),
])

export const GivenPoll = Type.Object(
  {
    question: Words(300),
    options: Type.Array(GivenOption, { minItems: 1, maxItems: 12 }),
    media: optional(GivenPollMedia),
    is_anonymous: Type.Boolean({ default: true }),
    type: Type.Enum(['regular', 'quiz'], { default: 'regular' }),
    allows_multiple_answers: Type.Boolean({ default: false }),
    allows_revoting: optional(Type.Boolean()),
    allow_adding_options: optional(Type.Boolean()),
    shuffle_options: optional(Type.Boolean()),
    hide_results_until_closes: optional(Type.Boolean()),
    description: optional(Type.String({ maxLength: 1024 })),
    correct_option_ids: optional(Type.Array(Type.Integer({ minimum: 0, maximum: 11 }))),
    explanation: optional(Type.String({ maxLength: 200 })),
    explanation_media: optional(GivenPollMedia),
    open_period: optional(Type.Integer({ minimum: 1, maximum: 2_628_000 })),
  },
  strict,
)

/** What belongs to a part of a poll. */
const PollMediaBody = Type.Object({
  media: optional(ShownMedia),
  location: optional(
    Type.Object({
      latitude: Type.Number(),
      longitude: Type.Number(),
      horizontal_accuracy: optional(Type.Number()),
    }),
  ),
  venue: optional(Type.Object({ title: Type.String(), address: Type.String() })),
  url: optional(Type.String({ description: 'The address of a page' })),
})

export const PollBody = Type.Object({
  id: Type.String(),
  question: Type.String(),
  options: Type.Array(
    Type.Object({
      text: Type.String(),
      media: optional(PollMediaBody),
      voter_count: Type.Integer(),
      added_by_user_id: optional(Type.Integer()),
    }),
  ),
  total_voter_count: Type.Integer(),
  is_closed: Type.Boolean(),
  is_anonymous: Type.Boolean(),
  type: Type.String(),
  allows_multiple_answers: Type.Boolean(),
  allows_revoting: Type.Boolean(),
  allow_adding_options: Type.Boolean(),
  shuffle_options: Type.Boolean(),
  hide_results_until_closes: Type.Boolean(),
  members_only: Type.Boolean(),
  country_codes: optional(Type.Array(Type.String())),
  description: optional(Type.String()),
  media: optional(PollMediaBody),
  correct_option_ids: optional(Type.Array(Type.Integer())),
  explanation: optional(Type.String()),
  explanation_media: optional(PollMediaBody),
  close_date: optional(Type.Integer()),
})

/** The named members of a type, without the index signature for members that the reference may add. */
type Known<Type> = { [Name in keyof Type as string extends Name ? never : Name]: Type[Name] }

/** A block of a rich message, as the bot wrote it, with files as messages show them; blocks within it have the same form. */
export type RichBlockBody = Omit<Known<RichBlock>, 'media' | 'blocks' | 'items'> & {
  readonly is_open?: boolean
  readonly media?: Static<typeof ShownMedia>
  readonly blocks?: readonly RichBlockBody[]
  readonly items?: readonly (Omit<RichListItem, 'blocks'> & {
    readonly blocks: readonly RichBlockBody[]
  })[]
}

export const RichBody = Type.Object(
  {
    blocks: Type.Array(
      Type.Unsafe<RichBlockBody>({
        type: 'object',
        properties: { type: { type: 'string' } },
        additionalProperties: true,
      }),
    ),
    is_rtl: Type.Optional(Type.Boolean()),
  },
  { description: 'The blocks; `text` has the same in words' },
)
