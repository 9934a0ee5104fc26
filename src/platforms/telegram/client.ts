/** Creates the library's client, and corrects how it waits, ends, and names people to the network. */
import { hash } from 'node:crypto'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { IPeersRepository, RpcCallMiddleware } from '@mtcute/core'
import { longFromFastString, toggleChannelIdMark } from '@mtcute/core/utils.js'
import {
  BaseTelegramClient,
  type Long,
  networkMiddlewares,
  SessionConnection,
  TcpTransport,
  type tl,
} from '@mtcute/node'
import { NodeCryptoProvider } from '@mtcute/node/utils.js'
import { permitted, type WritePermit } from '../../../actors/ports/platform.ts'
import { unlessAborted } from '../kit/session-life.ts'
import { doubting, endingOf } from './failures.ts'
import { isSame } from './storage/peers.ts'
import type { SessionStorage } from './storage/session-storage.ts'

/**
 * The library stores channels under the numbers of people, and keeps the access hash of a `min` peer, which cannot
 * address that peer. For people the order here is: the given reference, then the stored one, then a message of the person.
 */
export function namePeopleRightly(client: TelegramClient, stored: IPeersRepository): void {
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

export type TelegramClient = BaseTelegramClient

export interface Application {
  readonly id: number
  readonly hash: string
}

export interface DataCentreAddress {
  readonly id: number
  readonly ipAddress: string
  readonly port: number
}

interface ClientOptions {
  readonly application: Application
  /** The first data centre of a new client; absent: the library's own list. */
  readonly entrance?: DataCentreAddress
  readonly storage: SessionStorage
  readonly updates: boolean
  /** Absent: no other node can have this account. */
  readonly permit?: WritePermit
  /** The library could not do something by itself. */
  defect(cause: Error): void
}

/** The library waits out shorter restrictions itself, and reports longer ones. */
const PATIENCE_MS = 3_000
const SHORTEST_RETRY_MS = 250
const LONGEST_RETRY_MS = 5_000
/** For so long the network's list of data centres counts at least. */
const LEAST_CONFIG_MS = 60_000

export function createClient(options: ClientOptions): TelegramClient {
  const { application, entrance, storage, updates, permit, defect } = options
  const doubts = doubting()
  const client = new BaseTelegramClient({
    apiId: application.id,
    apiHash: application.hash,
    storage,
    // The service closes its sessions itself, so the library needs no hook on the process.
    storageOptions: { cleanup: false, peers: { cacheSize: 50 } },
    updates: updates ? { catchUp: true } : false,
    logLevel: 0,
    crypto: cryptography,
    initConnectionOptions: { deviceModel: 'Chapar', systemVersion: 'Node.js', appVersion: '1' },
    ...(permit && { transport: new PermittedTransport(permit) }),
    ...(entrance && { defaultDcs: { main: entrance, media: { ...entrance, mediaOnly: true } } }),
    network: {
      // Each probe takes a ping along, and the next comes within 72 s: a ping alone would cost as much.
      pingInterval: 75_000,
      middlewares: [
        gathering(() => client.destroyed),
        doubts.judge,
        ...networkMiddlewares.basic({
          floodWaiter: { maxWait: PATIENCE_MS, maxRetries: 2, onBeforeWait: () => undefined },
          internalErrors: { maxRetries: 2, exceptErrors: ['RANDOM_ID_DUPLICATE'] },
        }),
        doubts.note,
      ],
    },
    reconnectionStrategy: backoff(),
  })
  client.onError.add(defect)
  reachCentres(client)
  refreshConfig(client, defect)
  openForFilesLate(client)
  refuseWhenClosed(client)
  notePeersRightly(client)
  return client
}

/** Resolves also where the network has ended the session before. */
export async function signOut(client: TelegramClient, signal: AbortSignal): Promise<void> {
  const call = client.call({ _: 'auth.logOut' }, { abortSignal: signal })
  try {
    // The library itself would wait for a connection for ever.
    await unlessAborted(call, signal)
  } catch (cause) {
    if (!endingOf(cause)) throw cause
  }
}

/** The library reads its compiled part from the disk for each client that has a provider of its own, and hashes by way of streams. */
class Cryptography extends NodeCryptoProvider {
  #reading: Promise<void> | undefined

  override initialize(): Promise<void> {
    this.#reading ??= super.initialize().catch((cause) => {
      this.#reading = undefined
      throw cause
    })
    return this.#reading
  }

  override sha1(data: Uint8Array): Buffer {
    return hash('sha1', data, 'buffer')
  }

  override sha256(data: Uint8Array): Buffer {
    return hash('sha256', data, 'buffer')
  }
}

/** It keeps nothing of a client. */
const cryptography = new Cryptography()

/** Connections that the permit closes, and behind it nothing is written. */
class PermittedTransport extends TcpTransport {
  readonly #permit: WritePermit
  readonly #open = new Set<{ close(): void }>()

  constructor(permit: WritePermit) {
    super()
    this.#permit = permit
    permit.onEnd(() => {
      for (const connection of this.#open) connection.close()
    })
  }

  override async connect(...[address]: Parameters<TcpTransport['connect']>) {
    const connect = permitted(this.#permit, () => super.connect(address))
    const connection = await connect()
    this.#open.add(connection)
    const read = connection.read.bind(connection)
    connection.read = (into) =>
      read(into).catch((cause) => {
        // The library always reads, so this is how every connection ends.
        this.#open.delete(connection)
        throw cause
      })
    connection.write = permitted(this.#permit, connection.write.bind(connection))
    // It may have ended meanwhile.
    if (!this.#permit.isValid) connection.close()
    return connection
  }
}

/**
 * The library has eight connections for files ready from the beginning. They connect late, but take a third of its memory, and
 * most accounts hardly ever move a file: until then there is one of each kind, because the library needs a first one.
 */
function openForFilesLate(client: TelegramClient) {
  const { network } = client.mt
  const usual = network._connectionCount
  const used = new Set<Parameters<typeof usual>[0]>(['main'])
  const count: typeof usual = (kind, ...where) => (used.has(kind) ? usual(kind, ...where) : 1)
  Object.assign(network, { _connectionCount: count })
  const getPoolSize = client.getPoolSize.bind(client)
  // Whatever moves a file asks for this first.
  client.getPoolSize = (kind, ...where) => {
    // It counts all connections anew.
    if (!used.has(kind)) {
      used.add(kind)
      network.setIsPremium(network.params.isPremium)
    }
    return getPoolSize(kind, ...where)
  }
}

/** What the library does not declare of its connections. */
interface Sessions {
  readonly _session: { lastSessionCreatedUid: Long }
  _onNewSessionCreated(notice: { readonly uniqueId: Long }): void
}

/**
 * The network may forget a session at any time, and what it told to nobody is not told again. The library asks what it
 * missed where a session is not the first one that it hears of, but does not note that it has heard of one.
 */
function noteSessions() {
  const sessions = SessionConnection.prototype as unknown as Sessions
  const take = sessions._onNewSessionCreated
  sessions._onNewSessionCreated = function (notice) {
    take.call(this, notice)
    this._session.lastSessionCreatedUid = notice.uniqueId
  }
}
noteSessions()

/** What the library does not declare of how it writes. */
interface Flushing {
  _doFlush(): void
  _pingDisconnectDelay(): number
}

/** So long after a ping the network is to close a connection, in milliseconds. */
const SILENCE_MS = 135_000

/**
 * With a request the library asks the network to close the connection seven seconds later unless it pings again, which it
 * does after a minute. What it waits for itself stays as short.
 */
function bearSilence() {
  const connections = SessionConnection.prototype as unknown as Flushing
  const [flush, usual] = [connections._doFlush, connections._pingDisconnectDelay]
  const patient = () => SILENCE_MS
  connections._doFlush = function () {
    this._pingDisconnectDelay = patient
    try {
      flush.call(this)
    } finally {
      this._pingDisconnectDelay = usual
    }
  }
}
bearSilence()

/** What the library does not declare of its data centres. */
interface Centres {
  readonly _dcConnections: ReadonlyMap<number, unknown>
  readonly _pendingExports: Map<number, Promise<void>>
  _findDcOptions(id: number): Promise<unknown>
  _exportAuthTo(centre: { readonly dcId: number }): Promise<void>
}

/**
 * The library looks for a data centre that it cannot find again and again, without a pause. And it remembers for ever that
 * another data centre did not let the account in.
 */
function reachCentres(client: TelegramClient) {
  const { network } = client.mt
  const centres = network as unknown as Centres
  const reach = network._getOtherDc.bind(network)
  network._getOtherDc = async (id) => {
    if (!centres._dcConnections.has(id)) await centres._findDcOptions(id)
    return reach(id)
  }
  const signIn = centres._exportAuthTo.bind(centres)
  centres._exportAuthTo = async (centre) => {
    const signedIn = signIn(centre)
    // Perhaps nobody else waits for it.
    centres._pendingExports.get(centre.dcId)?.catch(() => undefined)
    try {
      await signedIn
    } catch (cause) {
      centres._pendingExports.delete(centre.dcId)
      throw cause
    }
  }
}

/** The library compares the network's clock with its own: where this one is an hour ahead, it asks without a pause. */
function refreshConfig(client: TelegramClient, defect: (cause: Error) => void) {
  const { params } = client.mt._config
  const fetcher = params.fetcher
  params.onError = (cause) => defect(cause as Error)
  params.fetcher = async (context) => {
    const { data } = await fetcher(context)
    return { data, expiresIn: Math.max(LEAST_CONFIG_MS, (data.expires - data.date) * 1000) }
  }
}

/** The library's own loop may ask once more after the end, and its rejection would be unhandled. */
function refuseWhenClosed(client: TelegramClient) {
  const call = client.call.bind(client)
  const guarded: TelegramClient['call'] = (request, params) =>
    client.destroyed ? Promise.reject(closed()) : call(request, params)
  client.call = guarded
}

const closed = () => new Error('The client is closed')

/**
 * Requests of one turn of the event loop leave together: the library puts those into one packet that it gets at once, and
 * a packet costs more to encrypt and to write than most requests.
 */
function gathering(isClosed: () => boolean): RpcCallMiddleware {
  let turn: Promise<void> | undefined
  return async (context, next) => {
    turn ??= endOfTurn().then(() => {
      turn = undefined
    })
    await turn
    if (isClosed()) throw closed()
    return next(context)
  }
}

interface CachedPeer {
  readonly complete: unknown
}

const cacheOf = ({ storage }: TelegramClient) =>
  (storage.peers as unknown as { readonly _cache: Map<number, CachedPeer> })._cache

const isMin = (peer: unknown) =>
  typeof peer === 'object' && peer !== null && 'min' in peer && peer.min === true

/**
 * It may also store a peer after the end and set a timer to write it, which would keep the process alive for half a
 * minute. And it caches groups and channels under two numbers, of which it renews one.
 */
function notePeersRightly(client: TelegramClient) {
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

/**
 * The library counts only consecutive failures of one socket. A server that closes after the greeting counts as well.
 */
function backoff() {
  let wait = 0
  let last = 0
  return () => {
    const now = performance.now()
    const isCalm = now - last > 4 * LONGEST_RETRY_MS
    last = now
    wait = isCalm ? SHORTEST_RETRY_MS : Math.min(wait * 2, LONGEST_RETRY_MS)
    return wait * (0.5 + Math.random() / 2)
  }
}
