/** Creates the library's client, and corrects how it waits, acknowledges and ends. */
import { hash } from 'node:crypto'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { RpcCallMiddleware } from '@mtcute/core'
import { TlBinaryReader } from '@mtcute/core/utils.js'
import {
  BaseTelegramClient,
  IntermediatePacketCodec,
  type Long,
  networkMiddlewares,
  SessionConnection,
  TcpTransport,
} from '@mtcute/node'
import { NodeCryptoProvider } from '@mtcute/node/utils.js'
import { permitted, type WritePermit } from '../../../actors/ports/platform.ts'
import { unlessAborted } from '../kit/session-life.ts'
import { bearUnreadable, doubting, endingOf, pauseResending, UNREADABLE } from './failures.ts'
import { notePeersRightly } from './storage/peers.ts'
import type { SessionStorage } from './storage/session-storage.ts'

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
          internalErrors: { maxRetries: 2, exceptErrors: ['RANDOM_ID_DUPLICATE', UNREADABLE] },
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

/** What one packet may unpack to, in bytes. */
const LONGEST_CONTENT = 64 << 20

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

  override gunzip(data: Uint8Array): Buffer {
    return gunzipSync(data, { maxOutputLength: LONGEST_CONTENT })
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
interface Connection {
  readonly _salts: { _getServerTime(): number }
  readonly _session: {
    lastSessionCreatedUid: Long
    readonly queuedAcks: readonly Long[]
    readonly recentIncomingMsgIds: { has(id: Long): boolean }
  }
  _onFutureSalts(told: { readonly salts: readonly { readonly validSince: number }[] }): void
  _onNewSessionCreated(notice: { readonly uniqueId: Long }): void
  _onRpcResult(messageId: Long, message: unknown): void
  _handleMessage(messageId: Long, message: { readonly _: string }): void
  _sendAck(messageId: Long): void
  _doFlush(): void
  _pingDisconnectDelay(): number
  _onError(cause: Error, connection: { close(): void } | null): unknown
}
const connections = SessionConnection.prototype as unknown as Connection

/**
 * The network may forget a session at any time, and what it told to nobody is not told again. The library asks what it
 * missed where a session is not the first one that it hears of, but does not note that it has heard of one.
 */
function noteSessions() {
  const take = connections._onNewSessionCreated
  connections._onNewSessionCreated = function (notice) {
    take.call(this, notice)
    this._session.lastSessionCreatedUid = notice.uniqueId
  }
}
noteSessions()

/** A salt that counts later is not waited for: a timer of more than 24 days ends at once, and the library starts it again. */
const FUTURE_SECONDS = 7 * 86_400

function leaveFarSalts() {
  const { _onFutureSalts: take } = connections
  connections._onFutureSalts = function (told) {
    const until = this._salts._getServerTime() + FUTURE_SECONDS
    take.call(this, { ...told, salts: told.salts.filter(({ validSince }) => validSince < until) })
  }
}
leaveFarSalts()

/** So long after a ping the network is to close a connection, in milliseconds. */
const SILENCE_MS = 135_000

/**
 * With a request the library asks the network to close the connection seven seconds later unless it pings again, which it
 * does after a minute. What it waits for itself stays as short.
 */
function bearSilence() {
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

/** After a cut the network says again what was not acknowledged, and the library leaves what it knows so. */
function acknowledgeAgain() {
  const { _onRpcResult: take, _handleMessage: hear } = connections
  connections._onRpcResult = function (messageId, message) {
    const { length } = this._session.queuedAcks
    take.call(this, messageId, message)
    if (this._session.queuedAcks.length === length) this._sendAck(messageId)
  }
  connections._handleMessage = function (messageId, message) {
    const isKnown = this._session.recentIncomingMsgIds.has(messageId)
    // Of what comes unasked only updates have another name.
    if (isKnown && !message._.startsWith('mt_')) this._sendAck(messageId)
    else hear.call(this, messageId, message)
  }
}
acknowledgeAgain()

bearUnreadable()
pauseResending()

/** What one packet may take, in bytes. The network's own are a few megabytes at most. */
const LONGEST_PACKET = 16 << 20

/** The library gathers a packet for as long as the network says that it is. */
function boundPackets() {
  const { decode } = IntermediatePacketCodec.prototype
  IntermediatePacketCodec.prototype.decode = function (reader, isLast) {
    if (reader.available >= 4) {
      const length = Buffer.from(reader.readSync(4)).readUInt32LE()
      reader.rewind(4)
      if (length > LONGEST_PACKET) throw new RangeError(`A packet of ${length} bytes is not read`)
    }
    return decode.call(this, reader, isLast)
  }
}
boundPackets()

/** After an error of its own the library opens another connection, and leaves the one before to fill the memory. */
function closeAfterErrors() {
  const { _onError: take } = connections
  connections._onError = function (cause, connection) {
    connection?.close()
    return take.call(this, cause, connection)
  }
}
closeAfterErrors()

/** At its end the library reads text and bytes without a failure, so that a wrong count would fill the memory. */
function boundVectors() {
  const { vector } = TlBinaryReader.prototype
  TlBinaryReader.prototype.vector = function (reader, bare) {
    const head = bare ? 0 : 4
    this.pos += head
    const [count, left] = [this.peekUint(), this.uint8View.length - this.pos - 4]
    this.pos -= head
    if (count * 4 > left) throw new RangeError('A list is longer than what it is in')
    return vector.call(this, reader, bare)
  }
}
boundVectors()

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
