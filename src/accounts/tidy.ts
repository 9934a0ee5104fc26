/** Deletes what sign-in leaves behind and nobody looks at any more. */
import type { Database } from '../database/database.ts'
import { secondsAfter } from './clock.ts'

const HOUR = 3_600
const DAY = 24 * HOUR

/** A phone that nobody guessed at for a month begins anew, a locked one too. */
const FAILURES_KEPT = 30 * DAY

/** Expired codes are kept for an hour, in which a late user is told that the code has expired. */
const leftovers: readonly (readonly [statement: string, secondsKept: number])[] = [
  ['delete from otp_challenge where expires_at < $1', HOUR],
  ['delete from otp_failures where failed_at < $1', FAILURES_KEPT],
  ['delete from quota where used_at < $1', DAY],
  ['delete from user_session where expires_at < $1', 0],
  ['delete from personal_token where expires_at < $1', 30 * DAY],
]

export async function tidy(db: Database, now: Date): Promise<void> {
  for (const [statement, secondsKept] of leftovers) {
    await db.query(statement, [secondsAfter(now, -secondsKept)])
  }
}
