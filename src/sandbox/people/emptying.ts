/** Empties the network of a user: accounts on it are signed out, then everybody and everything in it is deleted. */
import type { Database } from '../../database/database.ts'
import type { LiveSession } from '../../platforms/sandbox/session.ts'
import { personalTables } from '../../privacy/tables.ts'
import { inRounds, wipeTable } from '../../privacy/wipe.ts'
import type { Hub } from '../delivery/hub.ts'
import type { Residents } from './residents.ts'
import type { Room } from './room.ts'

export interface EmptyingOptions {
  readonly db: Database
  readonly hub: Hub<LiveSession>
  readonly room: Room
  readonly residents: Residents
  readonly wake: (people: readonly number[]) => void
}

const tables = personalTables.filter(({ name }) => name.startsWith('sandbox_'))

const signOut = `
  update sandbox_session set ended = 'revoked' where ended is null
    and person_id in (select id from sandbox_person where user_id = $1)`

/** The sweep removes files that nobody holds. */
const letGo = `
  delete from media_hold where holder like 'sandbox:%'
    and blob in (select blob from media_blob where user_id = $1)`

export class Emptying {
  readonly #options: EmptyingOptions
  readonly #underWay = new Map<number, Promise<boolean>>()

  constructor(options: EmptyingOptions) {
    this.#options = options
  }

  /** Resolves with whether nothing is left; what is written meanwhile may be. */
  empty(network: number): Promise<boolean> {
    const known = this.#underWay.get(network)
    if (known) return known
    const emptying = this.#empty(network).finally(() => this.#underWay.delete(network))
    this.#underWay.set(network, emptying)
    return emptying
  }

  async #empty(network: number): Promise<boolean> {
    const { db, hub, room, residents, wake } = this.#options
    const people = await db.query<{ id: number }>(
      'select id from sandbox_person where user_id = $1',
      [network],
    )
    await db.query(signOut, [network])
    for (const { id } of people) {
      for (const session of hub.of(id)) session.end((to) => to.revoked('session_revoked'))
    }
    await hub.acknowledgements.flush()
    const isEmpty = await inRounds(async () => {
      await db.query(letGo, [network])
      for (const table of tables) await wipeTable(db, table, network)
    })
    room.forget(network)
    residents.forget(network)
    wake(people.map(({ id }) => id))
    return isEmpty
  }
}
