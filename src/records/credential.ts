/** Records of credentials: the account with its settings and health, its timeline, its chart, its health test. */
import { type Static, Type } from 'typebox'
import { MaybeSentence, Nullable } from '../json/schemas.ts'
import { SharedMark, ShareRecord } from './account.ts'

export const CredentialRecord = Type.Object({
  credential_id: Type.Integer(),
  platform: Type.String(),
  state: Type.String(),
  reason: Nullable(Type.String()),
  action: Type.String(),
  account: Type.Object({
    id: Type.Integer(),
    first_name: Type.String(),
    last_name: Type.Optional(Type.String()),
    username: Type.Optional(Type.String()),
    phone: Type.Optional(Type.String()),
  }),
  settings: Type.Object({
    include_self_updates: Type.Boolean(),
    include_channel_updates: Type.Boolean(),
    include_channel_update_recovery: Type.Boolean(),
    include_deleted_updates: Type.Boolean(),
  }),
  health: Type.Object({
    healthy: Nullable(Type.Boolean()),
    checked_at: Nullable(Type.String({ format: 'date-time' })),
    last_event_at: Nullable(Type.String({ format: 'date-time' })),
    latency_ms: Nullable(Type.Integer()),
  }),
  created_at: Type.String({ format: 'date-time' }),
  online_since: Nullable(Type.String({ format: 'date-time' })),
  node: Nullable(Type.String()),
  tags: Type.Array(Type.String()),
  shared: SharedMark,
})

export type CredentialRecord = Static<typeof CredentialRecord>

/** What is shared with who asks, or offered to them: then the account itself is null. */
export const ReceivedShare = Type.Object({
  ...Type.Pick(ShareRecord, ['share_id', 'role', 'created_at', 'accepted_at']).properties,
  state: Type.Union([Type.Literal('invited'), Type.Literal('active')]),
  owner: Type.Object({ phone: Type.String({ description: 'Its last four digits' }) }),
  platform: Type.String(),
  credential_id: Type.Integer(),
  credential: Nullable(CredentialRecord),
})
export type ReceivedShare = Static<typeof ReceivedShare>

export const Counts = Type.Record(Type.String(), Type.Integer())

export const CredentialSummary = Type.Object({
  total: Type.Integer(),
  by_state: Counts,
  by_platform: Counts,
  needing_action: Type.Integer({ description: 'Those that do not come back by themselves' }),
  by_reason: Type.Record(Type.String(), Type.Integer(), {
    description: 'How many of those that need an action are out for each reason',
  }),
})

export const CredentialGroups = Type.Object({
  matching: Type.Integer({ description: 'How many pass the whole filter' }),
  by_reason: Type.Record(Type.String(), Type.Integer(), {
    description:
      'How many are out for each reason, of those that pass all of the filter but `reason`',
  }),
  by_tag: Type.Record(Type.String(), Type.Integer(), {
    description:
      'How many accounts have each tag, whatever is filtered; the hundred most frequent ones',
  }),
})

const Part = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

export const ViewQuery = Type.Object(
  {
    search: Part(100),
    state: Part(600),
    action: Part(600),
    reason: Part(600),
    tag: Part(600),
    platform: Part(64),
    sort: Part(32),
  },
  { additionalProperties: false, description: 'As the address of the list in the panel has it' },
)

export const SavedViewRecord = Type.Object({
  view_id: Type.Integer(),
  name: Type.String(),
  query: ViewQuery,
})

/** An action on many accounts. */
export const BulkActionRecord = Type.Object({
  action_id: Type.Integer(),
  kind: Type.String({ description: '`restart`, `delete`, `relink`' }),
  state: Type.String({ description: '`running`, `stopped`, `finished`' }),
  filter: Nullable(
    Type.Object(
      {
        search: Type.Optional(Type.Boolean()),
        states: Type.Optional(Type.Array(Type.String())),
        platform: Type.Optional(Type.String()),
        actions: Type.Optional(Type.Array(Type.String())),
        reasons: Type.Optional(Type.Array(Type.String())),
        tags: Type.Optional(Type.Array(Type.String())),
        incident: Type.Optional(Type.String()),
      },
      { description: 'What the accounts were chosen by; null where they were named' },
    ),
  ),
  total: Type.Integer({ description: 'How many accounts' }),
  done: Type.Integer(),
  failed: Type.Integer(),
  created_at: Type.String({ format: 'date-time' }),
  ended_at: Nullable(Type.String({ format: 'date-time' })),
})

/** One of its accounts. */
export const BulkItemRecord = Type.Object({
  credential_id: Type.Integer(),
  account: Nullable(CredentialRecord.properties.account),
  state: Type.String({ description: '`waiting`, `done`, `failed`' }),
  code: Nullable(Type.String({ description: 'Why it failed' })),
  ended_at: Nullable(Type.String({ format: 'date-time' })),
})

/** A page on which the owner of one of them links it again. */
export const RelinkPageRecord = Type.Object({
  credential_id: Type.Integer(),
  account: Nullable(CredentialRecord.properties.account),
  state: Type.String({ description: '`ready`, `begun`, `linked`, `expired`' }),
  url: Nullable(Type.String({ description: 'For the owner of the account; null once it is over' })),
  expires_at: Type.String({ format: 'date-time' }),
})

export const TransitionRecord = Type.Object({
  at: Type.String({ format: 'date-time' }),
  from: Type.String(),
  to: Type.String(),
  event: Type.String(),
  reason: Nullable(Type.String()),
  actor: Type.String(),
  node: Type.String(),
  other_node: Type.Optional(
    Type.String({
      description: 'Only of `owner.lost` and `owner.gained`: the node that has it now, or had it',
    }),
  ),
  duration_ms: Type.Integer(),
  /** How often it happened in one loop of reconnects, and when for the last time. */
  count: Type.Integer(),
  last_at: Type.String({ format: 'date-time' }),
})

export const StatePath = Type.String({ description: 'Names of the nested states, joined by dots' })

export const Chart = Type.Object({
  name: Type.String(),
  states: Type.Array(
    Type.Object({
      path: StatePath,
      parent: Nullable(StatePath),
      type: Type.String({ description: '`atomic`, `compound` or `final`' }),
      initial: Type.Boolean({ description: 'Whether its parent begins here' }),
      meta: Type.Record(Type.String(), Type.Unknown()),
      invokes: Type.Array(Type.String()),
    }),
  ),
  transitions: Type.Array(
    Type.Object({
      from: Nullable(StatePath),
      to: Nullable(StatePath),
      event: Type.String(),
      guard: Nullable(Type.String()),
    }),
    { description: '`from` is null where any state takes it; `to` is null where it changes none' },
  ),
})

export type Chart = Static<typeof Chart>

export const HealthReport = Type.Object({
  healthy: Type.Boolean(),
  state: Type.String(),
  checked_at: Type.String({ format: 'date-time' }),
  checks: Type.Array(
    Type.Object({
      check: Type.String(),
      ok: Nullable(Type.Boolean()),
      latency_ms: Nullable(Type.Integer()),
      detail: Type.String(),
      detail_code: MaybeSentence,
      code: Nullable(Type.String({ description: 'What is wrong, as a diagnosis names it' })),
      remedy: Nullable(Type.String()),
    }),
  ),
})

/** One message of the stream of one credential. */
export const LiveTransition = Type.Object({
  ...Type.Omit(TransitionRecord, ['count', 'last_at', 'other_node']).properties,
  state: Type.String(),
  /** It stands in this loop of reconnects already. */
  repeats: Type.Boolean(),
  action: Type.String(),
})

/** One entry of a message of the stream of all credentials. */
export const CredentialChange = Type.Object({
  credential_id: Type.Integer(),
  at: Type.String({ format: 'date-time' }),
  from: Type.String(),
  to: Type.String(),
  event: Type.String(),
  reason: Nullable(Type.String()),
  state: Type.String(),
  action: Type.String(),
})
