/** The records of a user's credentials, read after buffered facts of their actors are written. */
import type { AccountIdentity } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import type { CredentialRecord } from '../records/credential.ts'
import { type AccountNames, type IdentityRow, identityColumns } from './identity.ts'

export interface CredentialRow extends IdentityRow {
  readonly platform: string
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
  readonly tags: readonly string[]
  readonly created_at: Date
}

/** The row without the sealed secrets, which a record never needs. */
export const shownColumns = `${identityColumns}, platform, state, reason, action, include_self_updates,
  include_channel_updates, include_channel_update_recovery, include_deleted_updates, healthy,
  checked_at, last_event_at, latency_ms, online_since, node, tags, created_at`

/** `accountId` is the integer the bot API knows the account by. */
function presentCredential(
  row: CredentialRow,
  identity: AccountIdentity,
  accountId: number,
): CredentialRecord {
  const { firstName, lastName, username, phone } = identity
  return {
    credential_id: row.id,
    platform: row.platform,
    state: row.state,
    reason: row.reason,
    action: row.action,
    account: {
      id: accountId,
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
      // Without a connection the last successful probe means nothing.
      healthy: CONNECTED.includes(row.state) ? row.healthy : false,
      checked_at: row.checked_at?.toISOString() ?? null,
      last_event_at: row.last_event_at?.toISOString() ?? null,
      latency_ms: row.latency_ms,
    },
    created_at: row.created_at.toISOString(),
    online_since: row.state !== 'active' ? null : (row.online_since?.toISOString() ?? null),
    node: row.node,
    tags: [...row.tags],
  }
}

const CONNECTED: readonly string[] = ['active', 'degraded']

export interface RecordSource {
  readonly db: Database
  /** Writes buffered facts, so that the record of the credential is current. In lists the health may be some minutes old. */
  flush(credentialId?: number): Promise<void>
  /** The integer the bot API knows the account by. */
  accountId(credentialId: number, native: string): Promise<number>
  /** Undefined once it was wiped. */
  identity(row: IdentityRow): Promise<AccountIdentity | undefined>
  readonly names: Pick<AccountNames, 'of'>
}

/** Rejects with `not_found`, also for another user's credential. */
export async function findCredential(
  source: RecordSource,
  userId: number,
  credentialId: number,
): Promise<CredentialRecord> {
  await source.flush(credentialId)
  const [row] = await source.db.query<CredentialRow>(
    `select ${shownColumns} from credential
      where id = $2 and user_id = $1 and deleting_at is null`,
    [userId, credentialId],
  )
  if (!row) throw failed('not_found')
  return recordOf(source, row)
}

/** Those of these that are not being deleted, whoever owns them. */
export async function readCredentials(
  source: RecordSource,
  credentialIds: readonly number[],
): Promise<CredentialRecord[]> {
  const rows = await source.db.query<CredentialRow>(
    `select ${shownColumns} from credential where id = any($1::bigint[]) and deleting_at is null`,
    [credentialIds],
  )
  return recordsOf(source, rows)
}

/** The rows that were not wiped meanwhile. */
export async function recordsOf(
  source: RecordSource,
  rows: readonly CredentialRow[],
): Promise<CredentialRecord[]> {
  const found = rows.map(async (row) => {
    const identity = await source.identity(row)
    return identity
      ? presentCredential(row, identity, await source.accountId(row.id, identity.native))
      : undefined
  })
  return (await Promise.all(found)).filter((record) => record !== undefined)
}

async function recordOf(source: RecordSource, row: CredentialRow): Promise<CredentialRecord> {
  const identity = await source.identity(row)
  // Deleted since the row was read.
  if (!identity) throw failed('not_found')
  return presentCredential(row, identity, await source.accountId(row.id, identity.native))
}
