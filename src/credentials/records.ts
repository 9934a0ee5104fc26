/** Credentials as the management API shows them: from the table, once what actors noted is in it. */
import { type Static, Type } from 'typebox'
import type { AccountIdentity } from '../../actors/platform.ts'
import type { Database } from '../database/database.ts'

const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

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
    checked_at: Nullable(Type.String()),
    last_event_at: Nullable(Type.String()),
    latency_ms: Nullable(Type.Integer()),
  }),
  created_at: Type.String(),
  online_since: Nullable(Type.String()),
  node: Nullable(Type.String()),
})

export type CredentialRecord = Static<typeof CredentialRecord>

interface Row {
  readonly id: number
  readonly platform: string
  readonly account: AccountIdentity
  readonly state: string
  readonly reason: string | null
  readonly action: string
  readonly include_self_updates: boolean
  readonly include_channel_updates: boolean
  readonly include_channel_update_recovery: boolean
  readonly include_deleted_updates: boolean
  readonly healthy: boolean | null
  readonly checked_at: Date | null
  readonly last_event_at: Date | null
  readonly latency_ms: number | null
  readonly online_since: Date | null
  readonly node: string | null
  readonly created_at: Date
}

export interface RecordSource {
  readonly db: Database
  /** Writes what is buffered: a record is read as of now. */
  flush(): Promise<void>
  /** The integer the bot API knows the account by. */
  accountId(credentialId: number, native: string): Promise<number>
}

export async function listCredentials(
  source: RecordSource,
  userId: number,
  { limit, before }: { readonly limit: number; readonly before: number | undefined },
): Promise<CredentialRecord[]> {
  await source.flush()
  const rows = await source.db.query<Row>(
    `select * from credential where user_id = $1 and deactivated_at is null
        and ($3::bigint is null or id < $3) order by id desc limit $2`,
    [userId, limit, before ?? null],
  )
  return Promise.all(rows.map((row) => recordOf(source, row)))
}

export async function findCredential(
  source: RecordSource,
  userId: number,
  credentialId: number,
): Promise<CredentialRecord | undefined> {
  await source.flush()
  const [row] = await source.db.query<Row>(
    'select * from credential where id = $2 and user_id = $1 and deactivated_at is null',
    [userId, credentialId],
  )
  return row && recordOf(source, row)
}

async function recordOf(source: RecordSource, row: Row): Promise<CredentialRecord> {
  const { native, firstName, lastName, username, phone } = row.account
  return {
    credential_id: row.id,
    platform: row.platform,
    state: row.state,
    reason: row.reason,
    action: row.action,
    account: {
      id: await source.accountId(row.id, native),
      first_name: firstName,
      ...(lastName !== undefined && { last_name: lastName }),
      ...(username !== undefined && { username }),
      ...(phone !== undefined && { phone }),
    },
    settings: {
      include_self_updates: row.include_self_updates,
      include_channel_updates: row.include_channel_updates,
      include_channel_update_recovery: row.include_channel_update_recovery,
      include_deleted_updates: row.include_deleted_updates,
    },
    health: {
      // Without a connection the last good probe says nothing any more.
      healthy: CONNECTED.includes(row.state) ? row.healthy : false,
      checked_at: row.checked_at?.toISOString() ?? null,
      last_event_at: row.last_event_at?.toISOString() ?? null,
      latency_ms: row.latency_ms,
    },
    created_at: row.created_at.toISOString(),
    online_since: row.state !== 'active' ? null : (row.online_since?.toISOString() ?? null),
    node: row.node,
  }
}

const CONNECTED: readonly string[] = ['active', 'degraded']
