/** The rooms of an account as they are kept here: those it goes back to with every new session. */
import type { LinkedAccount } from '../../../../actors/ports/platform.ts'
import { StorageAway } from '../failures.ts'
import type { Bookmark } from './bookmarks.ts'

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

/** Those of one account. Rejects with nothing but `StorageAway`. */
export class KeptRooms {
  readonly #store: RoomStore
  readonly #owner: RoomOwner

  constructor(store: RoomStore, owner: RoomOwner) {
    this.#store = store
    this.#owner = owner
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
