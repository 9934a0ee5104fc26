/** Public names: the people and chats of a network may not share one. */
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'

/** Rejects with `conflict` where a name is taken. `except`: a person who may keep their name. */
export async function assertFreeUsernames(
  { db, network }: { readonly db: Queryable; readonly network: number },
  owners: readonly { readonly username?: string | null }[],
  except?: number,
): Promise<void> {
  const names = owners.flatMap(({ username }) => (username ? [username.toLowerCase()] : []))
  if (names.length === 0) return
  if (new Set(names).size < names.length) throw taken()
  const found = await db.query(
    `select from sandbox_person
     where user_id = $3 and lower(username) = any($1) and id is distinct from $2
     union all
     select from sandbox_chat where user_id = $3 and lower(username) = any($1)`,
    [names, except ?? null, network],
  )
  if (found.length > 0) throw taken()
}

/** Explains a violated index: two may take a name or phone number at once. */
export function takenName(cause: unknown): never {
  if (!(cause instanceof Error && 'constraint' in cause)) throw cause
  if (String(cause.constraint).includes('phone')) {
    throw failed(
      'conflict',
      'the phone number is already registered',
      { reason: 'phone_taken' },
      { cause },
    )
  }
  if (String(cause.constraint).includes('username')) throw taken({ cause })
  throw cause
}

const taken = (options?: ErrorOptions) =>
  failed('conflict', 'the username is already taken', { reason: 'username_taken' }, options)
