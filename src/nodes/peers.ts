/** The connections between nodes: TLS with a key from the key file, which proves each side to the other without certificates. */
import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import {
  type ClientHttp2Session,
  connect as connectSession,
  createServer as createLineServer,
} from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import {
  type ConnectionOptions,
  connect as connectTls,
  createServer as createTlsServer,
} from 'node:tls'
import { buildConnector, errors } from 'undici'
import type { Forwarded } from '../../machines/credential/events.ts'
import { LISTEN_BACKLOG } from '../config/limits.ts'
import { Connections } from '../net/guard.ts'

/** The version of this protocol. During an upgrade nodes of the version before are spoken to in theirs, and let in. */
export const PROTOCOL = 2
/** Since this version a peer takes many connections within one of TLS. */
const WITH_LINES = 2

/**
 * undici connects anew for a request whose `Host` differs from the one before, unless it is told a name; callers may know the
 * service by several.
 */
export const PEER_NAME = 'chapar-node'

const identityOf = (protocol: number) => `chapar-node-${protocol}`
/** The identities of peers that are let in. */
const spoken: readonly string[] = [PROTOCOL, PROTOCOL - 1].map(identityOf)

// Keys agreed upon in advance, and new ones for each connection: what was recorded stays secret when the key gets known.
const tls = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const

const CONNECT_MS = 1_000
/** It is over once so many parts of it have passed in silence. */
const MOMENTS = 8
/** The other side closes later, so that no request meets a connection that is being closed. */
const IDLE_MS = 30_000
const SERVER_IDLE_MS = 72_000
const KEEP_ALIVE_MS = 60_000
const LOOK_MS = 1_000
/** A line whose other end answers none of so many looks gets no more calls. */
const MOST_UNANSWERED = 4
/** A request that the public port has taken comes with more headers. */
const MAX_HEADER_BYTES = 32_768
/** The connections to each peer for calls that are answered at once. Other calls have connections of their own. */
const CALLS_AT_ONCE = 64

const CLIENT = 'x-chapar-client'
const REQUEST = 'x-chapar-request'
const REPEATED = 'x-chapar-repeated'
const AGE = 'x-chapar-age'
const COMPLETES = 'x-chapar-completes'

/** The headers that a node adds to a request that it forwards. */
export interface Forwarding {
  /** The address of the connection on which the request came to the first node. */
  readonly client: string
  readonly call: Forwarded
}

/** As the node that answers gets it. */
interface Received extends Forwarding {
  /** The first node adds the headers that are the same in every answer: each costs it more to read than to write. */
  readonly completesAnswer: boolean
}

const FORWARDING = Symbol('forwarding')
const TAKEN_AT = Symbol('taken at')

/**
 * What is noted with a request stands in the request. The collector of young objects takes every value of an old WeakMap
 * for living, so each request would stay until the whole heap is collected.
 */
interface Noted extends IncomingMessage {
  [FORWARDING]?: Received
  [TAKEN_AT]?: number
}

/** The headers of the forwarding node; undefined if a client sent the request to this node. */
export const forwardingOf = (request: IncomingMessage): Received | undefined =>
  (request as Noted)[FORWARDING]

/** To be called as soon as a request is there that may have to wait for the owner of its account. */
export function noteTaken(request: IncomingMessage): void {
  ;(request as Noted)[TAKEN_AT] ??= performance.now()
}

/** Milliseconds since the first node took the request, which it may have kept for the owner of its account. */
export function ageOf(request: IncomingMessage): number {
  const takenAt = (request as Noted)[TAKEN_AT]
  return takenAt === undefined ? 0 : performance.now() - takenAt
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void

interface PeerServer {
  /** As other nodes reach it. */
  readonly address: string
  /** Until it is called, every request is answered with 421. */
  serve(serve: Serve): void
  close(): Promise<void>
}

/** Listens where `address` says, of which port 0 is replaced by a free one. */
export async function listenForPeers(address: string, key: Buffer): Promise<PeerServer> {
  const url = new URL(address)
  let serve: Serve = (_, response) => misdirect(response)
  const requests = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request: Noted, response) => {
    // The clocks of nodes differ, so a request tells its age.
    request[TAKEN_AT] = performance.now() - (Number(request.headers[AGE]) || 0)
    request[FORWARDING] = takeForwarding(request.headers)
    // Of these the first node writes its own.
    response.sendDate = false
    response.removeHeader('connection')
    serve(request, response)
  })
  requests.keepAliveTimeout = SERVER_IDLE_MS
  // An upload may take long, and the first node has limits for it.
  requests.requestTimeout = 0
  const lines = createLineServer(unlimited).on('stream', (within) => {
    within.respond()
    requests.emit('connection', within)
  })
  const sockets = new Set<Socket>()
  const server = createTlsServer(
    {
      ...tls,
      pskCallback: (_, identity) => (spoken.includes(identity) ? key : null),
      // A peer of before names both, and means the first.
      ALPNProtocols: ['http/1.1', 'h2'],
    },
    (socket) => (socket.alpnProtocol === 'h2' ? lines : requests).emit('connection', socket),
  )
  // Also those that do not finish their handshake.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
  })
  // Processes that share the public port must not share this one.
  server.listen({
    host: bare(url.hostname),
    port: Number(url.port),
    exclusive: true,
    backlog: LISTEN_BACKLOG,
  })
  await once(server, 'listening')
  url.port = String((server.address() as AddressInfo).port)
  return {
    address: url.origin,
    serve: (next) => {
      serve = next
    },
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** Without the brackets of IPv6. */
export const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

/** Removes what is only for nodes from the headers. */
function takeForwarding(headers: IncomingHttpHeaders): Received {
  const { [CLIENT]: client, [REQUEST]: id, [REPEATED]: repeated, [COMPLETES]: completes } = headers
  delete headers[CLIENT]
  delete headers[REQUEST]
  delete headers[REPEATED]
  delete headers[AGE]
  delete headers[COMPLETES]
  const call = { id: String(id ?? ''), isRepeated: repeated === '1' }
  return { client: String(client ?? ''), call, completesAnswer: completes === '1' }
}

/** The account is not here: the node that asked has to look again. */
export function misdirect(response: ServerResponse): void {
  response.writeHead(421, { 'content-length': 0 }).end()
}

/** Headers that belong to one connection, and what a client might send in the name of a node. */
const left = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-connection',
  CLIENT,
  REQUEST,
  REPEATED,
  AGE,
  COMPLETES,
])

/** The headers of a request as they came, with what the next node should know. */
export function headersFor(request: IncomingMessage, forwarding: Forwarding): string[] {
  const { rawHeaders } = request
  const headers: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!left.has(name.toLowerCase())) headers.push(name, rawHeaders[at + 1] ?? '')
  }
  headers.push(CLIENT, forwarding.client, REQUEST, forwarding.call.id, COMPLETES, '1')
  const age = Math.round(ageOf(request))
  if (age > 0) headers.push(AGE, `${age}`)
  if (forwarding.call.isRepeated) headers.push(REPEATED, '1')
  return headers
}

/** Peers are trusted: thousands of clients may wait, and leave at once. */
const unlimited = {
  maxSessionMemory: 10_000,
  peerMaxConcurrentStreams: 2 ** 31 - 1,
  streamResetBurst: 1_000_000,
  streamResetRate: 1_000_000,
}

type Connected = Parameters<buildConnector.connector>[1]

/** What a request to a peer is: one that is answered at once, one that is held, or any other that takes long. */
type Kind = 'short' | 'held' | 'long'

type ByKind = Readonly<Record<'short' | 'held', Connections>>

/** The first node times what has to be timed: answers may take long, and uploads too. */
const usual = { allowH2: false, keepAliveTimeout: IDLE_MS, headersTimeout: 0, bodyTimeout: 0 }

const connectionsTo =
  (address: string, connect: buildConnector.connector) =>
  (connections = Number.POSITIVE_INFINITY) =>
    new Connections(address, { ...usual, connect, connections })

/**
 * One connection of TLS, in which each call has a connection of its own. So thousands of held polls cost no handshakes, and
 * what many calls write at the same moment goes out in one piece.
 */
class Line {
  readonly connections: ByKind
  readonly #socket: Socket
  readonly #session: ClientHttp2Session
  readonly #looking: NodeJS.Timeout
  readonly #left: () => void
  /** The connections within it. */
  #open = 0
  #unanswered = 0

  /** `left`: it takes no more calls; those that it has go on. */
  constructor(address: string, security: ConnectionOptions, left: () => void) {
    const { hostname, port } = new URL(address)
    const to = { host: bare(hostname), port: Number(port), ...security, ALPNProtocols: ['h2'] }
    this.#socket = connectTls(to).setNoDelay().setKeepAlive(true, KEEP_ALIVE_MS)
    this.#left = left
    this.#looking = setInterval(() => this.#look(), LOOK_MS).unref()
    const open = connectionsTo(address, (_, done) => this.#connect(done))
    this.connections = { short: open(CALLS_AT_ONCE), held: open() }
    this.#session = connectSession(address, { ...unlimited, createConnection: () => this.#socket })
    const leave = () => this.#leave()
    // Each of its calls is told of an error, too.
    this.#session.on('error', leave).once('goaway', leave).once('close', leave)
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  destroy(): void {
    this.#leave()
    for (const connections of Object.values(this.connections)) connections.close()
    this.#session.destroy()
    this.#socket.destroy()
  }

  #leave(): void {
    clearInterval(this.#looking)
    this.#left()
    for (const connections of Object.values(this.connections)) connections.retire()
    this.#session.close()
    this.#endUnused()
  }

  /** A session that closes only ends its half, and a peer that is dead never ends the other one. */
  #endUnused(): void {
    if (this.#session.closed && this.#open === 0) this.#socket.destroy()
  }

  #connect(done: Connected): void {
    // Whatever the reason: no request has left this node.
    const fail = (why: string) => done(new errors.ConnectTimeoutError(why), null)
    if (this.#session.closed || this.#session.destroyed) {
      this.#leave()
      // A connection is tried anew for each call that waits, within this answer: thousands would be too deep a stack.
      setImmediate(fail, 'the line is closed')
      return
    }
    const within = this.#session.request({ ':method': 'CONNECT', ':authority': PEER_NAME })
    this.#open++
    let why = 'the line has ended'
    let [heard, moments] = [this.#socket.bytesRead, 0]
    // After a pause of this process its timers come before what has arrived, and a peer that says anything is there.
    const late = setInterval(() => {
      moments = this.#socket.bytesRead > heard ? 0 : moments + 1
      heard = this.#socket.bytesRead
      if (moments < MOMENTS) return
      why = 'a peer does not answer'
      this.#leave()
      within.destroy()
    }, CONNECT_MS / MOMENTS)
    // A line that ends closes its streams without an error.
    const refuse = () => fail(why)
    within
      .on('error', ({ message }) => {
        why = message
      })
      .once('close', () => {
        clearInterval(late)
        this.#open--
        this.#endUnused()
      })
      .once('close', refuse)
      .once('response', () => {
        clearInterval(late)
        within.off('close', refuse)
        // It takes any stream for a connection.
        done(null, within as unknown as Socket)
      })
  }

  /** After a break of the network the system repeats ever more seldom what was lost: another line is there before. */
  #look(): void {
    if (this.#session.connecting) return
    if (this.#session.destroyed || this.#unanswered === MOST_UNANSWERED) this.#leave()
    else if (this.#unanswered++ === 0) {
      this.#session.ping(() => {
        this.#unanswered = 0
      })
    }
  }
}

/** The connections to one peer. */
export class Peer {
  readonly #direct: ByKind & { readonly long: Connections }
  readonly #open: (() => Line) | undefined
  /** Those before the present one may still have calls. */
  #lines: readonly Line[] = []
  #line: Line | undefined

  /** `protocol`: the newest that the peer speaks. */
  constructor(address: string, key: Buffer, protocol = PROTOCOL) {
    const identity = identityOf(Math.min(protocol, PROTOCOL))
    const security = {
      ...tls,
      pskCallback: () => ({ psk: key, identity }),
      // There is no certificate: a peer without the key cannot finish the handshake.
      checkServerIdentity: () => undefined,
    }
    const connector = buildConnector({ ...security, allowH2: false, timeout: CONNECT_MS })
    const open = connectionsTo(address, connector)
    this.#direct = { short: open(CALLS_AT_ONCE), held: open(), long: open() }
    if (protocol < WITH_LINES) return
    this.#open = () => {
      const line: Line = new Line(address, security, () => {
        if (this.#line === line) this.#line = undefined
      })
      return line
    }
  }

  connections(kind: Kind): Connections {
    if (kind === 'long' || !this.#open) return this.#direct[kind]
    if (!this.#line) {
      this.#line = this.#open()
      this.#lines = [...this.#lines.filter(({ isClosed }) => !isClosed), this.#line]
    }
    return this.#line.connections[kind]
  }

  /** Requests in progress fail at once. */
  destroy(): void {
    for (const connections of Object.values(this.#direct)) connections.close()
    for (const line of this.#lines) line.destroy()
  }
}
