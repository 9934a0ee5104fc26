/** Records of usage: figures by hour or day, and single requests. */
import { Type } from 'typebox'
import { Nullable } from '../json/nullable.ts'

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

export const ApiRequest = Type.Object({
  id: Type.Integer(),
  at: Type.String({ format: 'date-time', description: 'When it was answered' }),
  request_id: Type.String(),
  api_key_id: Nullable(Type.Integer()),
  credential_id: Nullable(Type.Integer()),
  method: Type.String({ description: 'A bot method, or the verb and path of a management call' }),
  status: Type.Integer(),
  error_code: Nullable(Type.Integer()),
  description: Nullable(Type.String()),
  duration_ms: Type.Number(),
  request_bytes: Type.Integer(),
  response_bytes: Type.Integer(),
  ip: Type.String(),
  user_agent: Nullable(Type.String()),
})
