/** For the operator: removes the locks of a phone after wrong codes or too many requests. */
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'
import { parsePhone, phoneIndex } from './phone.ts'

interface Unlocked {
  /** The phone in its normal form. */
  readonly phone: string
  /** The number of wrong codes that were counted. */
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
