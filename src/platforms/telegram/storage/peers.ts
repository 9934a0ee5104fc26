/** The people and chats that the account has seen, with the access hashes by which it may name them. */
import type { IPeersRepository, IReferenceMessagesRepository } from '@mtcute/core'
import { longFromFastString, toggleChannelIdMark } from '@mtcute/core/utils.js'
import { type BaseTelegramClient, Long, type tl } from '@mtcute/node'
import type { Owned } from '../../../../actors/ports/ports.ts'
import type { Queryable } from '../../../database/database.ts'
import { arrayLiteral, SharedStatements, textArray } from '../../../database/write-behind.ts'
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

interface NewPeer {
  readonly owned: Owned
  readonly peer: PeerInfo
}

/** One for all accounts: peers that arrive during a write share the next one. */
export type PeerWrites = SharedStatements<readonly NewPeer[], undefined>

/** Accounts whose peers are stored together. */
const MOST_TOGETHER = 500
/** Many accounts open together: without a rest each statement would store the people of two or three of them. */
const BETWEEN_WRITES_MS = 5
/** Peers of one statement: all contacts of many accounts would take longer than a statement may. */
const MOST_ROWS = 2_000

/** A peer that is stored already is only read: each session meets its own account again, and a lock costs a commit. */
const insertion = {
  name: 'telegram-peer',
  text: `insert into telegram_peer (credential_id, id, access_hash, is_min, complete)
         select n.credential_id, n.id, n.access_hash, n.is_min, n.complete
           from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::boolean[], $6::bytea[])
                  as n (credential_id, epoch, id, access_hash, is_min, complete)
          where not exists (select from credential c
                             where c.id = n.credential_id and c.epoch <> n.epoch)
            and not exists (select from telegram_peer p
                             where p.credential_id = n.credential_id and p.id = n.id
                               and p.complete = n.complete)
         on conflict (credential_id, id) do update
            set access_hash = excluded.access_hash, is_min = excluded.is_min,
                complete = excluded.complete, updated_at = now()
          where (not excluded.is_min or telegram_peer.is_min)
            and telegram_peer.complete is distinct from excluded.complete`,
}

export const peerWrites = (db: Queryable): PeerWrites =>
  new SharedStatements({
    most: MOST_TOGETHER,
    restMs: BETWEEN_WRITES_MS,
    ownerOf: ([first]) => first?.owned.credentialId ?? Number.NaN,
    async run(all) {
      // Rows are written in one order, so that two nodes cannot deadlock.
      const rows = all.flat().sort(byRow)
      for (let from = 0; from < rows.length; from += MOST_ROWS) {
        await insert(db, rows.slice(from, from + MOST_ROWS))
      }
      return all.map(() => undefined)
    },
  })

const insert = (db: Queryable, rows: readonly NewPeer[]) =>
  db.query(insertion, [
    arrayLiteral(rows.map(({ owned }) => owned.credentialId)),
    arrayLiteral(rows.map(({ owned }) => owned.epoch)),
    arrayLiteral(rows.map(({ peer }) => peer.id)),
    textArray(rows.map(({ peer }) => peer.accessHash)),
    rows.map(({ peer }) => peer.isMin),
    rows.map(({ peer }) => Buffer.from(peer.complete)),
  ])

const byRow = (one: NewPeer, other: NewPeer) =>
  one.owned.credentialId - other.owned.credentialId || one.peer.id - other.peer.id

export class PostgresPeers implements PeerStorage {
  readonly peers: IPeersRepository
  readonly refMessages: IReferenceMessagesRepository
  readonly #db: Queryable
  readonly #owned: Owned
  readonly #writes: PeerWrites
  readonly #seen = new Map<number, PeerInfo>()
  readonly #references = new Map<number, Reference>()
  /** Resolves after the last write, whether it failed or not. */
  #tried: Promise<void> = Promise.resolve()

  constructor(db: Queryable, { credentialId, epoch }: Owned, writes = peerWrites(db)) {
    this.#db = db
    this.#owned = { credentialId, epoch }
    this.#writes = writes
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
    const owned = this.#owned
    const peers = [...this.#seen]
    if (peers.length > 0) await this.#writes.run(peers.map(([, peer]) => ({ owned, peer })))
    for (const [id, peer] of peers) if (this.#seen.get(id) === peer) this.#seen.delete(id)
    const references = inOrder(this.#references)
    if (references.length > 0) await this.#writeReferences(references)
    for (const [id, reference] of references) {
      if (this.#references.get(id) === reference) this.#references.delete(id)
    }
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

/** Whether two objects of the network have the same content. Every answer names people: no lists of members are made. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false
  // Its methods are enumerable.
  if (Long.isLong(one)) return Long.isLong(other) && one.equals(other)
  if (one instanceof Uint8Array) return other instanceof Uint8Array && isEqual(one, other)
  const [here, there] = [one as Members, other as Members]
  let members = 0
  for (const name in here) {
    if (!isSame(here[name], there[name])) return false
    members++
  }
  for (const _ in there) members--
  return members === 0
}

type Members = Readonly<Record<string, unknown>>

const isEqual = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0

/**
 * The library stores channels under the numbers of people, and keeps the access hash of a `min` peer, which cannot
 * address that peer. For people the order here is: the given reference, then the stored one, then a message of the person.
 */
export function namePeopleRightly(client: BaseTelegramClient, stored: IPeersRepository): void {
  const { peers, refMsgs } = client.storage
  const getById = peers.getById.bind(peers)
  const getCompleteById = peers.getCompleteById.bind(peers)
  const cache = cacheOf(client)

  peers.getCompleteById = async (id, allowMin) => {
    const found = await getCompleteById(id, allowMin)
    return id > 0 && found && !isPerson(found) ? null : found
  }

  peers.getById = async (id, allowRefs = true) => {
    if (id < 0) {
      // It was cached for its name: by its access hash it cannot be addressed.
      if (isMin(cache.get(id)?.complete)) cache.delete(id)
      return getById(id, allowRefs)
    }
    const person = await getCompleteById(id, true)
    if (person?._ === 'user' && !person.min && person.accessHash) {
      return { _: 'inputPeerUser', userId: id, accessHash: person.accessHash }
    }
    const kept = await stored.getById(id)
    if (kept && !kept.isMin) {
      return { _: 'inputPeerUser', userId: id, accessHash: longFromFastString(kept.accessHash) }
    }
    const [chat, msgId] = (allowRefs && (await refMsgs.getForPeer(id))) || []
    const peer = chat === undefined ? null : await getById(chat, false)
    if (!peer || msgId === undefined) return null
    return { _: 'inputPeerUserFromMessage', peer, msgId, userId: id }
  }
}

const isPerson = ({ _ }: tl.TypeUser | tl.TypeChat) => _ === 'user' || _ === 'userEmpty'

interface CachedPeer {
  readonly complete: unknown
}

const cacheOf = ({ storage }: BaseTelegramClient) =>
  (storage.peers as unknown as { readonly _cache: Map<number, CachedPeer> })._cache

const isMin = (peer: unknown) =>
  typeof peer === 'object' && peer !== null && 'min' in peer && peer.min === true

/**
 * It may also store a peer after the end and set a timer to write it, which would keep the process alive for half a
 * minute. And it caches groups and channels under two numbers, of which it renews one.
 */
export function notePeersRightly(client: BaseTelegramClient) {
  const { peers } = client.storage
  const store = peers.store.bind(peers)
  const cache = cacheOf(client)
  const update = peers.updatePeersFrom.bind(peers)
  const updated = new WeakSet<object>()
  const merged = new WeakSet<object>()
  // It takes the people of an answer once more when it processes the updates in it.
  peers.updatePeersFrom = async (answer) => {
    if (typeof answer !== 'object' || answer === null) return update(answer)
    if (updated.has(answer)) return false
    updated.add(answer)
    return update(answer)
  }
  peers.store = async (peer) => {
    // Most answers name the same people again, and each would be serialized anew.
    const known = cache.get(peer.id)?.complete as object | undefined
    if (known && !merged.has(known) && isSame(known, peer)) return
    await store(peer)
    if (isMin(peer)) {
      // What is cached now has the content of both, and perhaps the access hash of this one: it was not stored so.
      const mixed = cache.get(peer.id)?.complete as object | undefined
      if (mixed && mixed !== peer) merged.add(mixed)
    } else if (!isPerson(peer)) {
      const isSmall = peer._ === 'chat' || peer._ === 'chatForbidden'
      const marked = isSmall ? -peer.id : toggleChannelIdMark(peer.id)
      const renewed = cache.get(peer.id)
      if (renewed && cache.has(marked)) cache.set(marked, renewed)
    }
    if (client.destroyed) await peers.close()
  }
}
