/** The rooms to which an account goes back with every new session, and their store. */

import type { LinkedAccount } from '../../../../actors/ports/platform.ts'
import { OwnershipLost } from '../../../../machines/model/failure.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import { ownedRows } from '../../../credentials/fence.ts'
import type { Database, Queryable } from '../../../database/database.ts'
import { arrayLiteral, SharedStatements } from '../../../database/write-behind.ts'
import type { Vault } from '../../../security/vault.ts'
import { RecentMap } from '../../kit/recent-map.ts'
import { StorageAway } from '../failures.ts'
import type { Bookmark } from './bookmarks.ts'

const owned = ownedRows('array[$1]', 'array[$2]', 'share')

/** Accounts whose rooms are read together; each may have a thousand. */
const AT_ONCE = 50
/** Accounts that open together share a statement. */
const BETWEEN_READS_MS = 5

const roomRows = {
  name: 'xmpp-rooms',
  text: `select credential_id, room, nick, password, shared from xmpp_room
          where credential_id = any($1::bigint[]) order by joined_at, room`,
}

interface Row {
  readonly credential_id: number
  readonly room: string
  readonly nick: string | null
  readonly password: Buffer | null
  readonly shared: boolean
}

interface PostgresRoomsOptions {
  readonly db: Database
  readonly vault: Vault
}

/** The rooms of accounts in PostgreSQL; their passwords are sealed. */
export class PostgresRooms implements RoomStore {
  readonly #db: Database
  readonly #vault: Vault
  readonly #loads: SharedStatements<number, Row[]>

  constructor({ db, vault }: PostgresRoomsOptions) {
    this.#db = db
    this.#vault = vault
    this.#loads = new SharedStatements({
      most: AT_ONCE,
      restMs: BETWEEN_READS_MS,
      async run(ids) {
        const rows = await db.query<Row>(roomRows, [arrayLiteral(ids)])
        const byAccount = Map.groupBy(rows, (row) => row.credential_id)
        return ids.map((id) => byAccount.get(id) ?? [])
      },
    })
  }

  async load({ credentialId }: RoomOwner): Promise<readonly KeptRoom[]> {
    const rows = await this.#loads.run(credentialId)
    return Promise.all(rows.map((row) => this.#roomOf(credentialId, row)))
  }

  async keep({ credentialId, epoch }: RoomOwner, kept: KeptRoom): Promise<void> {
    const { room, nick = null, password, shared } = kept
    const owner = `credential:${credentialId}`
    const sealed =
      password === undefined
        ? null
        : await this.#vault.seal(owner, placeOf(credentialId, room), Buffer.from(password))
    const written = await this.#db.query(
      `with ${owned}
       insert into xmpp_room (credential_id, room, nick, password, shared)
       select id, $3, $4, $5, $6 from owned
       on conflict (credential_id, room) do update
          set nick = excluded.nick, password = excluded.password, shared = excluded.shared
       returning room`,
      [credentialId, epoch, room, nick, sealed, shared],
    )
    if (written.length === 0) throw new OwnershipLost()
  }

  async forget({ credentialId, epoch }: RoomOwner, room: string): Promise<void> {
    const [owner] = await this.#db.query(
      `with ${owned},
       gone as (delete from xmpp_room using owned where credential_id = owned.id and room = $3)
       select id from owned`,
      [credentialId, epoch, room],
    )
    if (!owner) throw new OwnershipLost()
  }

  async #roomOf(credentialId: number, row: Row): Promise<KeptRoom> {
    const { room, nick, password, shared } = row
    const opened = password && (await this.#vault.open(placeOf(credentialId, room), password))
    return {
      room,
      ...(nick !== null && { nick }),
      ...(opened && { password: opened.toString() }),
      shared,
    }
  }
}

/** Forgets the rooms of accounts that are deactivated. */
export async function retainRooms(db: Queryable): Promise<void> {
  await db.query(
    `delete from xmpp_room using credential
      where credential.id = xmpp_room.credential_id and credential.deactivated_at is not null`,
  )
}

const placeOf = (credentialId: number, room: string) => ({
  table: 'xmpp_room',
  column: 'password',
  row: `${credentialId}:${room}`,
})

export interface KeptRoom extends Bookmark {
  /** The account's other devices have it among their bookmarks, too. */
  readonly shared: boolean
}

export type RoomOwner = Pick<LinkedAccount, 'credentialId' | 'epoch'>

/** Rejects when the database is away, and where another node owns the account by now. */
export interface RoomStore {
  load(owner: RoomOwner): Promise<readonly KeptRoom[]>
  /** Adds it, or changes what is known of it. */
  keep(owner: RoomOwner, room: KeptRoom): Promise<void>
  forget(owner: RoomOwner, room: string): Promise<void>
}

/** More are forgotten: their accounts join the room again. */
const MOST_OWING = 1_000
const MOST_OWED = 100

type Owed = RecentMap<string, Happening>

/**
 * Rooms that accounts were put out of, until that is stored: the session may end while the database is away, and the
 * room tells it only once.
 */
export class OwedRooms {
  readonly #accounts = new RecentMap<string, Owed>(MOST_OWING)

  of(owner: RoomOwner): Owed | undefined {
    return this.#accounts.get(keyOf(owner))
  }

  add(owner: RoomOwner, room: string, happening: Happening): void {
    const owed = this.of(owner) ?? new RecentMap(MOST_OWED)
    this.#accounts.set(keyOf(owner), owed.set(room, happening))
  }

  /** `happening`: only where no newer one is owed by now. */
  remove(owner: RoomOwner, room: string, happening?: Happening): void {
    const owed = this.of(owner)
    if (happening && owed?.get(room) !== happening) return
    owed?.delete(room)
    if (owed?.size === 0) this.#accounts.delete(keyOf(owner))
  }
}

/** Of an account that another node has had meanwhile, this one knows nothing. */
const keyOf = ({ credentialId, epoch }: RoomOwner) => `${credentialId} ${epoch}`

/** The rooms of one account. Rejects only with `StorageAway`. */
export class KeptRooms {
  readonly #store: RoomStore
  readonly #owner: RoomOwner
  readonly #owed: OwedRooms

  constructor(store: RoomStore, owner: RoomOwner, owed: OwedRooms) {
    this.#store = store
    this.#owner = owner
    this.#owed = owed
  }

  /** Those that the account was put out of, which is not stored yet; with the happening. */
  get owed(): ReadonlyMap<string, Happening> {
    return new Map(this.#owed.of(this.#owner))
  }

  owe(room: string, happening: Happening): void {
    this.#owed.add(this.#owner, room, happening)
  }

  /** `happening` is stored, or else the account is to be in the room again: put out once more, it owes anew. */
  settle(room: string, happening?: Happening): void {
    this.#owed.remove(this.#owner, room, happening)
  }

  load(): Promise<readonly KeptRoom[]> {
    return this.#store.load(this.#owner).catch(toAway)
  }

  keep(room: KeptRoom): Promise<void> {
    return this.#store.keep(this.#owner, room).catch(toAway)
  }

  forget(room: string): Promise<void> {
    return this.#store.forget(this.#owner, room).catch(toAway)
  }
}

function toAway(cause: unknown): never {
  throw new StorageAway('The rooms of the account could not be stored', { cause })
}
