/** Payments of a person and their answers, as schemas. The panel derives its types from them. */
import { Type } from 'typebox'
import { ChatId, Id } from './schemas.ts'

const strict = { additionalProperties: false }
const optional = Type.Optional
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
