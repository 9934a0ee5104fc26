/** Empties the network of a user: signs linked accounts out, then deletes all people, chats and files. */
import type { Database } from '../../database/database.ts'
import { inRounds, wipeTable } from '../../privacy/erase.ts'
import { personalTables } from '../../privacy/tables.ts'
import type { Hub } from '../delivery/hub.ts'
import type { Capacity } from '../network/capacity.ts'
import type { NetworkMembers } from '../network/members.ts'

interface NetworkCleanerOptions {
  readonly db: Database
  readonly hub: Hub
  readonly capacity: Capacity
  readonly members: NetworkMembers
}

const tables = personalTables.filter(({ name }) => name.startsWith('sandbox_'))

const signOut = `
  update sandbox_session set ended = 'revoked' where ended is null
    and person_id in (select id from sandbox_person where user_id = $1)`

/** The media store deletes files that nothing holds. */
const releaseHolds = `
  delete from media_hold where holder like 'sandbox:%'
    and blob in (select blob from media_blob where user_id = $1)`

export class NetworkCleaner {
  readonly #options: NetworkCleanerOptions
  readonly #underWay = new Map<number, Promise<boolean>>()

  constructor(options: NetworkCleanerOptions) {
    this.#options = options
  }

  /** Resolves with false where something is left: people may have written meanwhile. */
  empty(network: number): Promise<boolean> {
    const known = this.#underWay.get(network)
    if (known) return known
    const running = this.#empty(network).finally(() => this.#underWay.delete(network))
    this.#underWay.set(network, running)
    return running
  }

  async #empty(network: number): Promise<boolean> {
    const { db, hub, capacity, members } = this.#options
    const people = await db.query<{ id: number }>(
      'select id from sandbox_person where user_id = $1',
      [network],
    )
    await db.query(signOut, [network])
    for (const { id } of people) hub.endSessions(id, 'revoked')
    await hub.flush()
    const isEmpty = await inRounds(async () => {
      await db.query(releaseHolds, [network])
      for (const table of tables) await wipeTable(db, table, network)
    })
    capacity.forget(network)
    members.forget(network)
    hub.wake(people.map(({ id }) => id))
    return isEmpty
  }
}
