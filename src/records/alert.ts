/** Records of alerts: incidents of a user, their notifications, and the settings. */
import { type Static, Type } from 'typebox'
import { INCIDENT_STATES } from '../../machines/incident/machine.ts'
import { ALERT_EVENTS, CHANNELS, LOSSES, NOTIFICATION_STATES } from '../alerts/outbox.ts'
import { RULES } from '../alerts/rules.ts'
import { Nullable } from '../json/schemas.ts'
import { CredentialRecord } from './credential.ts'

/** The meaning of each rule, for the API's description. */
const rules = `\`account_out\`: out for longer than the user allows; \`account_deaf\`: connected, but nothing comes;
\`reconnect_loop\`: lost five times, each within 15 minutes; \`webhook_failing\`: for five minutes; \`backlog_old\`: a
polling bot is behind for longer than the user allows; \`updates_cut\`: removed before they were read; \`node_lost\`; \`disk_full\``

const Time = Type.String({ format: 'date-time' })
const named = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')

export const IncidentRecord = Type.Object({
  incident_id: Type.Integer(),
  scope: Type.Enum(['own', 'service'], {
    description:
      '`service`: of nodes, or of all other users together, for those who run it; it names nobody',
  }),
  rule: Type.Enum([...RULES], { description: rules }),
  subject: Type.String({
    description: 'The reason for which accounts went out, or their state; a node; or the rule',
  }),
  state: Type.Enum([...INCIDENT_STATES]),
  affected: Type.Integer({ description: 'How many accounts, keys or nodes it concerns now' }),
  opened_at: Time,
  silenced_until: Nullable(Time),
  resolved_at: Nullable(Time),
})
export type IncidentRecord = Static<typeof IncidentRecord>

export const IncidentSummary = Type.Object({
  open: Type.Integer({ description: 'Incidents that are not resolved' }),
  by_rule: Type.Record(Type.String(), Type.Integer(), {
    description: 'How many of your accounts and keys, and of the nodes, they concern, by rule',
  }),
})
export type IncidentSummary = Static<typeof IncidentSummary>

export const IncidentItem = Type.Object({
  credential: CredentialRecord,
  /** The key that the incident concerns; null where it concerns the account. */
  key: Nullable(Type.Object({ api_key_id: Type.Integer(), name: Type.String() })),
  since: Nullable(Time),
})
export type IncidentItem = Static<typeof IncidentItem>

export const AlertSettingsRecord = Type.Object({
  minutes: Type.Integer({ description: 'An account that is out for so long counts' }),
  backlog_minutes: Type.Integer({ description: 'A bot that is behind for so long counts' }),
  webhook: Nullable(
    Type.Object({
      url: Type.String({ description: 'Without what may be a secret' }),
      secret: Type.String({ description: 'It signs, as Standard Webhooks libraries take it' }),
      previous_until: Nullable(
        Type.String({
          format: 'date-time',
          description: 'The secret before signs along till then',
        }),
      ),
    }),
  ),
  chat: Nullable(Type.Object({ api_key_id: Type.Integer(), chat_id: Type.String() })),
  email: Nullable(Type.String()),
  email_available: Type.Boolean({ description: 'Whether this service sends mail' }),
  version: Type.String({ description: 'Of what can be set; another secret leaves it as it is' }),
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
