/** For the operator: what wrong codes and too many requests have locked for a phone is open again. */
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'
import { parsePhone, phoneIndex } from './phone.ts'

interface Unlocked {
  /** In the form in which it is known. */
  readonly phone: string
  /** Wrong codes that counted against it. */
  readonly failures: number
}

export async function unlock(
  db: Database,
  vault: Pick<Vault, 'derive'>,
  text: string,
): Promise<Unlocked> {
  const { number: phone } = parsePhone(text)
  const index = phoneIndex(vault)(phone)
  const key = index.toString('hex')
  const failures = await db.transaction(async (tx) => {
    await tx.query('delete from quota where key like any ($1)', [
      [`send:day:${key}%`, `send:burst:${key}%`],
    ])
    return await tx.query<{ failures: number }>(
      'delete from otp_failures where phone_index = $1 returning failures',
      [index],
    )
  })
  return { phone, failures: failures.reduce((sum, row) => sum + row.failures, 0) }
}
