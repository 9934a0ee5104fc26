/** The credentials of a user, read from the table once what actors noted is in it. */

import type { AccountIdentity } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import type { CredentialRecord } from '../records/credential.ts'
import type { IdentityRow } from './identity.ts'
import { type CredentialRow, presentCredential, shownColumns } from './record.ts'

export interface RecordSource {
  readonly db: Database
  /** Writes what is buffered: a record is read as of now. */
  flush(): Promise<void>
  /** The integer the bot API knows the account by. */
  accountId(credentialId: number, native: string): Promise<number>
  /** Undefined once it was wiped. */
  identity(row: IdentityRow): Promise<AccountIdentity | undefined>
}

/** Rejects with `not_found`, also for another user's credential. */
export async function findCredential(
  source: RecordSource,
  userId: number,
  credentialId: number,
): Promise<CredentialRecord> {
  await source.flush()
  const [row] = await source.db.query<CredentialRow>(
    `select ${shownColumns} from credential
      where id = $2 and user_id = $1 and deleting_at is null`,
    [userId, credentialId],
  )
  if (!row) throw failed('not_found')
  return recordOf(source, row)
}

export async function recordOf(
  source: RecordSource,
  row: CredentialRow,
): Promise<CredentialRecord> {
  const identity = await source.identity(row)
  // Deleted since the row was read.
  if (!identity) throw failed('not_found')
  return presentCredential(row, identity, await source.accountId(row.id, identity.native))
}
