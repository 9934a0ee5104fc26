/** Incidents of a user, what is told of them, and where, as they are shown. */
import { type Static, Type } from 'typebox'
import { INCIDENT_STATES } from '../../machines/incident/machine.ts'
import { ALERT_EVENTS, CHANNELS, LOSSES, NOTIFICATION_STATES } from '../alerts/outbox.ts'
import { Nullable } from '../json/nullable.ts'

const Time = Type.String({ format: 'date-time' })
const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')

export const IncidentRecord = Type.Object({
  incident_id: Type.Integer(),
  rule: Type.String({
    description: '`account_out`: accounts are out for longer than the user allows',
  }),
  subject: Type.String({
    description: 'The reason for which these accounts went out, or their state',
  }),
  state: Type.Enum([...INCIDENT_STATES]),
  affected: Type.Integer({ description: 'How many accounts are out now' }),
  opened_at: Time,
  silenced_until: Nullable(Time),
  resolved_at: Nullable(Time),
})
export type IncidentRecord = Static<typeof IncidentRecord>

export const AlertSettingsRecord = Type.Object({
  minutes: Type.Integer({ description: 'An account that is out for so long counts' }),
  webhook: Nullable(
    Type.Object({
      url: Type.String({ description: 'Without what may be a secret' }),
      secret: Type.String({ description: 'It signs, as Standard Webhooks libraries take it' }),
      previous_until: Nullable(
        Type.String({ description: 'The secret before signs along till then' }),
      ),
    }),
  ),
  chat: Nullable(Type.Object({ api_key_id: Type.Integer(), chat_id: Type.String() })),
  email: Nullable(Type.String()),
  email_available: Type.Boolean({ description: 'Whether this service sends mail' }),
})
export type AlertSettingsRecord = Static<typeof AlertSettingsRecord>

export const NotificationRecord = Type.Object({
  notification_id: Type.Integer(),
  incident_id: Nullable(Type.Integer()),
  channel: Type.Enum([...CHANNELS]),
  event: Type.Enum([...ALERT_EVENTS]),
  affected: Type.Integer(),
  state: Type.Enum([...NOTIFICATION_STATES]),
  attempts: Type.Integer(),
  code: Nullable(Type.String({ description: `Why the last attempt failed: ${named(LOSSES)}` })),
  detail: Nullable(Type.String()),
  created_at: Time,
  next_at: Nullable(Time),
  ended_at: Nullable(Time),
})
export type NotificationRecord = Static<typeof NotificationRecord>
