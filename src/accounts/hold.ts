/** Holds a user while something of theirs is added: what is counted is exact, and nothing is added to one who is erased. */
import { failed } from '../../machines/model/failure.ts'
import type { Queryable } from '../database/database.ts'

const hold = 'select erasing_at from app_user where id = $1 for no key update'

export const beingErased = () =>
  failed('unavailable', 'the account with this phone number is being erased', {
    retryAfterSeconds: 60,
  })

/** Within a transaction, and before other locks in it: others who hold this user wait for its end. */
export async function holdUser(tx: Queryable, userId: number): Promise<void> {
  const [user] = await tx.query<{ erasing_at: Date | null }>(hold, [userId])
  if (!user || user.erasing_at) throw beingErased()
}
