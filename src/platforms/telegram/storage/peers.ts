/** The people and chats that the account has seen, with the access hashes by which it may name them. */
import type { IPeersRepository, IReferenceMessagesRepository } from '@mtcute/core'
import type { Owned } from '../../../../actors/ports/ports.ts'
import type { Queryable } from '../../../database/database.ts'
import { forgetIn, isOwned } from './locations.ts'

type PeerInfo = IPeersRepository.PeerInfo
type Reference = readonly [chat: number, message: number]

interface Row {
  readonly id: number
  readonly access_hash: string
  readonly is_min: boolean
  readonly complete: Buffer
  readonly updated_at: Date
}

/** The database did not say who somebody is. */
export class PeerUnread extends Error {
  override readonly name = 'PeerUnread'
}

const unread = (cause: unknown): never => {
  throw new PeerUnread('A person or chat could not be looked up', { cause })
}

export interface PeerStorage {
  readonly peers: IPeersRepository
  readonly refMessages: IReferenceMessagesRepository
  /** Writes the changes since the last call. */
  flush(): Promise<void>
}

/** Stores no peers, which is enough for signing in. */
export const noPeers: PeerStorage = {
  peers: {
    store: () => undefined,
    getById: () => null,
    getByUsername: () => null,
    getByPhone: () => null,
    deleteAll: () => undefined,
  },
  refMessages: {
    store: () => undefined,
    getByPeer: () => null,
    delete: () => undefined,
    deleteByPeer: () => undefined,
    deleteAll: () => undefined,
  },
  flush: async () => undefined,
}

export class PostgresPeers implements PeerStorage {
  readonly peers: IPeersRepository
  readonly refMessages: IReferenceMessagesRepository
  readonly #db: Queryable
  readonly #owned: Owned
  readonly #seen = new Map<number, PeerInfo>()
  readonly #references = new Map<number, Reference>()
  /** Resolves after the last write, whether it failed or not. */
  #tried: Promise<void> = Promise.resolve()

  constructor(db: Queryable, owned: Owned) {
    this.#db = db
    this.#owned = owned
    this.peers = {
      store: (peer) => {
        // What is known of them already may still wait to be written.
        const seen = this.#seen.get(peer.id)
        if (!peer.isMin || !seen || seen.isMin) this.#seen.set(peer.id, peer)
      },
      getById: (id) => this.#find(id),
      // The network resolves names, because their owners change.
      getByUsername: () => null,
      getByPhone: () => null,
      deleteAll: () => this.#forgetAll('telegram_peer'),
    }
    this.refMessages = {
      store: (peer, chat, message) => {
        this.#references.set(peer, [chat, message])
      },
      getByPeer: (peer) => this.#reference(peer),
      // A missing reference is replaced by the next message; until then the network refuses the peer.
      delete: () => undefined,
      deleteByPeer: (peer) => {
        this.#references.delete(peer)
      },
      deleteAll: () => this.#forgetAll('telegram_reference'),
    }
  }

  /** One write after another: a session that ends writes while an earlier write may still run. */
  flush(): Promise<void> {
    // Most answers name nobody anew.
    if (this.#seen.size === 0 && this.#references.size === 0) return this.#tried
    const written = this.#tried.then(() => this.#write())
    this.#tried = written.catch(() => undefined)
    return written
  }

  /** Entries being written stay readable, and are written again if the write fails. */
  async #write(): Promise<void> {
    const peers = inOrder(this.#seen)
    if (peers.length > 0) await this.#writePeers(peers.map(([, peer]) => peer))
    for (const [id, peer] of peers) if (this.#seen.get(id) === peer) this.#seen.delete(id)
    const references = inOrder(this.#references)
    if (references.length > 0) await this.#writeReferences(references)
    for (const [id, reference] of references) {
      if (this.#references.get(id) === reference) this.#references.delete(id)
    }
  }

  async #writePeers(peers: readonly PeerInfo[]): Promise<void> {
    await this.#db.query(
      `insert into telegram_peer (credential_id, id, access_hash, is_min, complete)
       select $1, * from unnest($3::bigint[], $4::text[], $5::boolean[], $6::bytea[])
        where ${isOwned}
       on conflict (credential_id, id) do update
          set access_hash = excluded.access_hash, is_min = excluded.is_min,
              complete = excluded.complete, updated_at = now()
        where (not excluded.is_min or telegram_peer.is_min)
          and telegram_peer.complete is distinct from excluded.complete`,
      [
        this.#owned.credentialId,
        this.#owned.epoch,
        peers.map(({ id }) => id),
        peers.map(({ accessHash }) => accessHash),
        peers.map(({ isMin }) => isMin),
        peers.map(({ complete }) => Buffer.from(complete)),
      ],
    )
  }

  async #writeReferences(references: readonly (readonly [number, Reference])[]): Promise<void> {
    await this.#db.query(
      `insert into telegram_reference (credential_id, peer_id, chat_id, message_id)
       select $1, * from unnest($3::bigint[], $4::bigint[], $5::integer[])
        where ${isOwned}
       on conflict (credential_id, peer_id) do update
          set chat_id = excluded.chat_id, message_id = excluded.message_id`,
      [
        this.#owned.credentialId,
        this.#owned.epoch,
        references.map(([peer]) => peer),
        references.map(([, [chat]]) => chat),
        references.map(([, [, message]]) => message),
      ],
    )
  }

  async #find(id: number): Promise<PeerInfo | null> {
    const seen = this.#seen.get(id)
    if (seen && !seen.isMin) return seen
    const [row] = await this.#db
      .query<Row>(
        `select id, access_hash, is_min, complete, updated_at from telegram_peer
        where credential_id = $1 and id = $2`,
        [this.#owned.credentialId, id],
      )
      .catch(unread)
    if (!row) return seen ?? null
    return {
      id: row.id,
      accessHash: row.access_hash,
      isMin: row.is_min,
      usernames: [],
      updated: row.updated_at.getTime(),
      complete: row.complete,
    }
  }

  async #reference(peer: number): Promise<[number, number] | null> {
    const seen = this.#references.get(peer)
    if (seen) return [...seen]
    const [row] = await this.#db
      .query<{ chat_id: number; message_id: number }>(
        `select chat_id, message_id from telegram_reference
        where credential_id = $1 and peer_id = $2`,
        [this.#owned.credentialId, peer],
      )
      .catch(unread)
    return row ? [row.chat_id, row.message_id] : null
  }

  async #forgetAll(table: 'telegram_peer' | 'telegram_reference'): Promise<void> {
    this.#seen.clear()
    this.#references.clear()
    await forgetIn(this.#db, table, this.#owned)
  }
}

/** Rows are written in one order, so that two sessions cannot deadlock. */
const inOrder = <Value>(values: ReadonlyMap<number, Value>) =>
  [...values].sort(([one], [other]) => one - other)
