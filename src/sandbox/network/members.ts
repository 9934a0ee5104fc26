/** The members of a network: its people, and the public names, which are unique among its people and chats. */
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'

/** Two numbers each: about a megabyte. */
const MOST_REMEMBERED = 20_000

const lookup = {
  name: 'sandbox_resident',
  text: 'select user_id as network from sandbox_person where id = $1',
}

/** The network of a person never changes, so an answer is kept until the network is emptied. */
export class NetworkMembers {
  readonly #db: Queryable
  readonly #networks = new Map<number, number>()

  constructor(db: Queryable) {
    this.#db = db
  }

  /** Rejects with `not_found` for a person of another network, as for one that does not exist. */
  async assertIn(network: number, person: number): Promise<void> {
    const known = this.#networks.get(person) ?? (await this.#find(person))
    if (known !== network) throw failed('not_found', '')
  }

  /** Call it after the network was emptied. */
  forget(network: number): void {
    for (const [person, home] of this.#networks) if (home === network) this.#networks.delete(person)
  }

  async #find(person: number): Promise<number | undefined> {
    const [found] = await this.#db.query<{ network: number | null }>(lookup, [person])
    if (found?.network == null) return undefined
    if (this.#networks.size >= MOST_REMEMBERED) this.#networks.clear()
    this.#networks.set(person, found.network)
    return found.network
  }
}

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
