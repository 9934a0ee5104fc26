/** The network that each person belongs to. It never changes, so an answer is kept until the network is emptied. */
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'

/** Two numbers each: about a megabyte. */
const MOST_REMEMBERED = 20_000

const lookup = {
  name: 'sandbox_resident',
  text: 'select user_id as network from sandbox_person where id = $1',
}

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
