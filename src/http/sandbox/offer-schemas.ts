/** Inline results, web apps and payments of a person, as schemas. The panel derives its types from them. */
import { Type } from 'typebox'
import { ShownKeyboard } from './keyboard-schemas.ts'
import { ChatId, Id, shownContent } from './schemas.ts'

const strict = { additionalProperties: false }
const optional = Type.Optional

export const Result = Type.Object({
  id: Type.String(),
  type: Type.String({ description: '`article`, `photo` …' }),
  title: optional(Type.String()),
  description: optional(Type.String()),
  url: optional(Type.String()),
  thumbnail_url: optional(Type.String()),
  media_url: optional(Type.String({ description: 'A file that is fetched when it is sent' })),
  inline_keyboard: optional(ShownKeyboard),
  ...shownContent,
})

export const Answer = Type.Object({
  inline_query_id: Type.String(),
  answered: Type.Boolean(),
  results: Type.Array(Result),
  next_offset: Type.String({ description: 'Empty: there are no more results' }),
  button: optional(
    Type.Object({
      text: Type.String(),
      start_parameter: optional(Type.String()),
      web_app: optional(Type.Object({ url: Type.String() })),
    }),
  ),
})

export const OpenWebApp = Type.Object({
  query_id: Type.String({ description: 'For answerWebAppQuery, once' }),
  url: Type.String({ description: 'What a client opens: with the data of the person' }),
  init_data: Type.String({
    description: 'Signed where `bot_token` is given: the sandbox does not know the keys of bots',
  }),
})

const Line = Type.String({ maxLength: 128 })

const Address = Type.Object(
  {
    country_code: Type.String({ pattern: '^[A-Z]{2}$' }),
    state: Type.String({ maxLength: 128, default: '' }),
    city: Line,
    street_line1: Line,
    street_line2: Type.String({ maxLength: 128, default: '' }),
    post_code: Type.String({ maxLength: 16 }),
  },
  strict,
)

export const Pay = Type.Object(
  {
    chat: optional(ChatId),
    message_id: optional(Id),
    invoice_link: optional(Type.String({ minLength: 1, maxLength: 200 })),
    payment_id: optional(
      Type.String({ pattern: '^\\d{1,15}$', description: 'Goes on with a way of shipping' }),
    ),
    shipping_option_id: optional(Type.String({ minLength: 1, maxLength: 128 })),
    tip_amount: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
    order_info: optional(
      Type.Object(
        {
          name: optional(Line),
          phone_number: optional(Line),
          email: optional(Line),
          shipping_address: optional(Address),
        },
        strict,
      ),
    ),
    wait_seconds: Type.Number({ minimum: 0, maximum: 30, default: 10 }),
  },
  strict,
)

export const Payment = Type.Object({
  payment_id: Type.String(),
  state: Type.Enum(['unanswered', 'refused', 'shipping', 'paid']),
  error_message: optional(Type.String()),
  shipping_options: optional(
    Type.Array(
      Type.Object({
        id: Type.String(),
        title: Type.String(),
        prices: Type.Array(Type.Object({ label: Type.String(), amount: Type.Integer() })),
      }),
    ),
  ),
  total_amount: optional(Type.Integer()),
  charge_id: optional(Type.String()),
})
