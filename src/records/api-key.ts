/** Records of API keys: the key, its webhook, its backlog, deliveries to its webhook, its diagnosis. */
import { type Static, Type } from 'typebox'
import { MaybeSentence, Nullable } from '../json/schemas.ts'
import { AllowedIps, SharedMark } from './account.ts'

export const WebhookRecord = Type.Object({
  url: Type.String({
    description: 'Without user info and query; a path segment that may be a secret reads [hidden]',
  }),
  has_custom_certificate: Type.Boolean(),
  pending_update_count: Type.Integer(),
  max_connections: Type.Integer(),
  header_names: Type.Array(Type.String(), {
    description: 'The headers that are added to deliveries; their values are shown nowhere',
  }),
  ip_address: Type.Optional(Type.String()),
  allowed_updates: Type.Optional(Type.Array(Type.String())),
  last_error_date: Type.Optional(Type.Integer()),
  last_error_message: Type.Optional(Type.String()),
  last_success_date: Type.Optional(Type.Integer()),
  state: Type.Union(
    [
      Type.Literal('delivering'),
      Type.Literal('resting'),
      Type.Literal('suspended'),
      Type.Literal('stopped'),
      Type.Literal('crashed'),
      Type.Literal('failed'),
    ],
    { description: '`stopped`: the key has expired or may not receive, so nothing is tried' },
  ),
  failing_since: Type.Optional(
    Type.String({ format: 'date-time', description: 'Since then nothing has got through' }),
  ),
  next_attempt_at: Type.Optional(Type.String({ format: 'date-time' })),
})

export const OptionalTime = Nullable(Type.String({ format: 'date-time' }))

export const ApiKeyRecord = Type.Object({
  api_key_id: Type.Integer(),
  name: Type.String(),
  credential_id: Type.Integer(),
  account: Nullable(
    Type.Object(
      {
        first_name: Type.String(),
        last_name: Type.Optional(Type.String()),
        username: Type.Optional(Type.String()),
      },
      { description: 'The names of its account; null once the account is deleted' },
    ),
  ),
  scopes: Type.Array(Type.String()),
  key_hint: Type.String(),
  allowed_ips: AllowedIps,
  made_by: Nullable(
    Type.Integer({ description: 'The user who made it, if the account was shared with them' }),
  ),
  shared: SharedMark,
  state: Type.String({
    description:
      'Where its machine is, as a path of GET /machines/api_key; `crashed` and `failed` are of GET /machines/supervision',
  }),
  receive_mode: Type.Union(
    [Type.Literal('none'), Type.Literal('polling'), Type.Literal('webhook')],
    { description: '`polling`: getUpdates was called within a day' },
  ),
  webhook: Nullable(WebhookRecord),
  cursor: Type.Integer(),
  pending_update_count: Type.Integer(),
  dropped_update_count: Type.Integer(),
  dropped_at: OptionalTime,
  last_used_at: OptionalTime,
  created_at: Type.String({ format: 'date-time' }),
  expires_at: OptionalTime,
  revoked_at: OptionalTime,
})

export type ApiKeyRecord = Static<typeof ApiKeyRecord>

export const Time = Type.String({ format: 'date-time' })

export const Backlog = Type.Object({
  pending_update_count: Type.Integer({ minimum: 0 }),
  oldest_at: Nullable(Time),
  series: Type.Array(Type.Object({ at: Time, updates: Type.Integer({ minimum: 1 }) }), {
    description: 'The hours in which something came that still waits, oldest first',
  }),
})

/** As an array: JSON Schema writes tuples in two ways, of which the validator knows one and OpenAPI the other. */
const Header = Type.Unsafe<[name: string, value: string]>(
  Type.Array(Type.String(), { minItems: 2, maxItems: 2, description: 'Name and value' }),
)

const ExchangeSide = Type.Object({
  headers: Type.Array(Header),
  body: Type.String({ description: 'The first 16,384 characters, without secrets' }),
  is_cut: Type.Boolean(),
})

const WebhookExchangeRecord = Type.Object({
  at: Time,
  update_id: Type.Integer(),
  attempt: Type.Integer(),
  request: ExchangeSide,
  response: Nullable(ExchangeSide),
})

export const ExchangeChoice = Type.Object({
  keep: Type.Union([Type.Literal('none'), Type.Literal('failed'), Type.Literal('all')], {
    description: 'Of which attempts headers and bodies are kept',
  }),
})

export const WebhookExchanges = Type.Object({
  items: Type.Array(WebhookExchangeRecord),
  update: Nullable(
    Type.Object(
      {
        body: Type.String({ description: 'The first 16,384 characters, without secrets' }),
        is_cut: Type.Boolean(),
      },
      { description: 'The update that was asked for, as it is sent, while it is stored' },
    ),
  ),
  ...ExchangeChoice.properties,
})

const Keeps = ExchangeChoice.properties.keep

export const ExchangeChoices = Type.Object({
  calls: Keeps,
  deliveries: Keeps,
  days: Type.Integer({ description: 'For how long they are kept; 0: this service keeps none' }),
})

export const Delivery = Type.Object({
  id: Type.Integer(),
  at: Time,
  api_key_id: Type.Integer(),
  update_id: Type.Integer(),
  attempt: Type.Integer({ description: 'The number of the try, from 1 on' }),
  url: Type.String({ description: 'Without user info and query' }),
  status: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  duration_ms: Type.Number(),
  next_attempt_at: Nullable(Time),
  trace_id: Nullable(
    Type.String({ description: 'The request whose call caused the update, if one did' }),
  ),
  delivered_at: Nullable(
    Type.String({ format: 'date-time', description: 'Of the later attempt that delivered it' }),
  ),
  kind: Nullable(Type.String({ description: 'Of the update, while it is stored' })),
  chat_id: Nullable(Type.Integer({ description: 'Of the update, while it is stored' })),
  chat_name: Nullable(Type.String({ description: 'As the update tells it' })),
  excerpt: Nullable(Type.String({ description: 'The first words of its text' })),
  update_at: Nullable(
    Type.String({ format: 'date-time', description: 'When the update was stored' }),
  ),
  cause_api_key_id: Nullable(
    Type.Integer({ description: 'The key whose call caused the update, while both are there' }),
  ),
})

export const ResendRecord = Type.Object({
  state: Type.Union([
    Type.Literal('none'),
    Type.Literal('counted'),
    Type.Literal('running'),
    Type.Literal('done'),
    Type.Literal('stopped'),
  ]),
  updates: Type.Integer({ description: 'How many are, or would be, sent again' }),
  remaining: Type.Integer({
    description: 'Of those, how many are not delivered yet, or were not when it was stopped',
  }),
  from_update_id: Nullable(Type.Integer()),
  to_update_id: Nullable(Type.Integer()),
  is_cut: Type.Boolean({ description: 'More failed: these are the newest 1,000' }),
  started_at: Nullable(Time),
  stopped_at: Nullable(Time),
})

export const SigningSecretRecord = Type.Object({
  secret: Type.String({ description: 'As Standard Webhooks libraries take it' }),
  created_at: Time,
  previous_until: Nullable(
    Type.String({ format: 'date-time', description: 'The secret before signs along till then' }),
  ),
})

export const TestAttempt = Type.Object({
  delivered: Type.Boolean(),
  status: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  duration_ms: Type.Integer(),
})

export const StepRecord = Type.Object({
  step: Type.String(),
  verdict: Type.String({ description: '`pending`, `passed`, `failed` or `skipped`' }),
  code: Nullable(Type.String()),
  evidence: Type.Array(Type.String()),
  evidence_codes: Type.Array(MaybeSentence, { description: 'The same as codes, line by line' }),
  remedy: Nullable(Type.String()),
})

export const DiagnosisRecord = Type.Object({
  diagnosis_id: Type.String(),
  api_key_id: Type.Integer(),
  credential_id: Type.Integer(),
  step: Nullable(Type.String({ description: 'The step that comes next' })),
  steps: Type.Array(StepRecord),
  cause: Nullable(
    Type.Object({
      step: Type.String(),
      code: Type.String(),
      text: Type.String(),
      text_code: MaybeSentence,
    }),
  ),
  next_action: Nullable(Type.String({ description: 'What to do now, in words' })),
  started_at: Type.String({ format: 'date-time' }),
})
