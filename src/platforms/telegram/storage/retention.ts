/** Deletes stored locations of messages, and data of accounts, once nothing needs them any more. */
import type { Queryable } from '../../../database/database.ts'
import { TABLES } from './locations.ts'

/** Removes locations of messages older than the log keeps updates, and everything of accounts that are deactivated. */
export async function retainTelegram(db: Queryable, days: number): Promise<void> {
  await db.query(`delete from telegram_message where at < now() - make_interval(days => $1)`, [
    days,
  ])
  for (const table of TABLES) {
    await db.query(
      `delete from ${table} using credential
        where credential.id = ${table}.credential_id and credential.deactivated_at is not null`,
    )
  }
}
