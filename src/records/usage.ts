/** Records of usage: figures by hour or day, and single requests. */
import { Type } from 'typebox'
import { Nullable } from '../json/schemas.ts'

export const Count = Type.Integer({ minimum: 0 })

export const CountBy = Type.Record(Type.String(), Count)

export const Time = Type.String({ format: 'date-time' })

export const Step = Type.Union([Type.Literal('hour'), Type.Literal('day')])

const usage = {
  requests: Count,
  bot_requests: Count,
  management_requests: Count,
  requests_by_method: CountBy,
  errors: Count,
  errors_by_code: CountBy,
  bot_errors: Count,
  updates_received: Count,
  updates_delivered: Count,
  webhook_attempts: Count,
  webhook_failures: Count,
  bytes_in: Count,
  bytes_out: Count,
}

export const UsageReport = Type.Object({
  from: Time,
  to: Time,
  step: Step,
  totals: Type.Object(usage),
  series: Type.Array(Type.Object({ at: Time, ...usage })),
})

const CallSide = Type.Object({
  text: Type.String({ description: 'The first 16,384 characters, without secrets' }),
  is_cut: Type.Boolean(),
})

export const CallExchange = Type.Object({
  exchange: Nullable(
    Type.Object({
      at: Time,
      parameters: CallSide,
      answer: Nullable(CallSide),
    }),
  ),
  keep: Type.Union([Type.Literal('none'), Type.Literal('failed'), Type.Literal('all')], {
    description: 'Of which calls parameters and answers are kept',
  }),
})

export const CausedUpdates = Type.Array(
  Type.Object({
    update_id: Type.Integer(),
    at: Time,
    kind: Type.String(),
    chat_id: Nullable(Type.Integer()),
    attempts: Type.Array(
      Type.Object({
        api_key_id: Type.Integer(),
        at: Time,
        attempt: Type.Integer(),
        status: Nullable(Type.Integer()),
        error: Nullable(Type.String()),
      }),
      { description: 'At webhooks of all keys of the account, oldest first' },
    ),
  }),
)

export const ApiRequest = Type.Object({
  id: Type.Integer(),
  at: Type.String({ format: 'date-time', description: 'When it was answered' }),
  request_id: Type.String(),
  api_key_id: Nullable(Type.Integer()),
  credential_id: Nullable(Type.Integer()),
  method: Type.String({ description: 'A bot method, or the verb and path of a management call' }),
  operation: Nullable(
    Type.String({
      description:
        'What the method has the account do; null where it asks for nothing of the account',
    }),
  ),
  status: Type.Integer(),
  error_code: Nullable(Type.Integer()),
  description: Nullable(Type.String()),
  duration_ms: Type.Number(),
  request_bytes: Type.Integer(),
  response_bytes: Type.Integer(),
  ip: Type.String(),
  user_agent: Nullable(Type.String()),
})
