/** The connections between nodes: TLS with a key from the key file, which proves each side to the other without certificates. */
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { type Dispatcher, Pool } from 'undici'
import type { Forwarded } from '../../machines/credential/events.ts'
import { LISTEN_BACKLOG } from '../config/limits.ts'

/** The version of this protocol. During an upgrade nodes of the version before are spoken to in theirs, and let in. */
export const PROTOCOL = 1

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
/** The other side closes later, so that no request meets a connection that is being closed. */
const IDLE_MS = 30_000
const SERVER_IDLE_MS = 72_000
/** A request that the public port has taken comes with more headers. */
const MAX_HEADER_BYTES = 32_768
/** The connections to each peer for calls that are answered at once. Calls that wait have connections of their own. */
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
const FORWARD_AGAIN = Symbol('forward again')
const TAKEN_AT = Symbol('taken at')

/**
 * What is noted with a request stands in the request. The collector of young objects takes every value of an old WeakMap
 * for living, so each request would stay until the whole heap is collected.
 */
interface Noted extends IncomingMessage {
  [FORWARDING]?: Received
  [FORWARD_AGAIN]?: () => boolean
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

/** `forward` looks for the next owner of a request that is served here; false where the request cannot be repeated. */
export function onOwnerLost(request: IncomingMessage, forward: () => boolean): void {
  ;(request as Noted)[FORWARD_AGAIN] = forward
}

/**
 * This node has lost the account before anything was done for the request of a client. Returns whether the next owner
 * answers it.
 */
export const ownerLost = (request: IncomingMessage): boolean =>
  (request as Noted)[FORWARD_AGAIN]?.() ?? false

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
  const server = createServer(
    {
      ...tls,
      pskCallback: (_, identity) => (spoken.includes(identity) ? key : null),
      maxHeaderSize: MAX_HEADER_BYTES,
    },
    (request: Noted, response) => {
      // The clocks of nodes differ, so a request tells its age.
      request[TAKEN_AT] = performance.now() - (Number(request.headers[AGE]) || 0)
      request[FORWARDING] = takeForwarding(request.headers)
      // Of these the first node writes its own.
      response.sendDate = false
      response.removeHeader('connection')
      serve(request, response)
    },
  )
  server.keepAliveTimeout = SERVER_IDLE_MS
  // An upload may take long, and the first node has limits for it.
  server.requestTimeout = 0
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
    close: () => closed(server),
  }
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

const ANSWERS_WITHIN_MS = 300

/** Resolves with whether nothing listens there: the process has ended, and is not merely cut off from the database. */
export function isRefused(address: string): Promise<boolean> {
  const { hostname, port } = new URL(address)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: bare(hostname), port: Number(port) })
  socket.setTimeout(ANSWERS_WITHIN_MS, () => resolve(false))
  socket.once('connect', () => resolve(false))
  socket.once('error', (cause) => resolve('code' in cause && cause.code === 'ECONNREFUSED'))
  return promise.finally(() => socket.destroy())
}

async function closed(server: Server): Promise<void> {
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
}

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

/** The connections to one peer. */
export class Peer {
  readonly #calls: Pool
  readonly #long: Pool

  /** `protocol`: the newest that the peer speaks. */
  constructor(address: string, key: Buffer, protocol = PROTOCOL) {
    const identity = identityOf(Math.min(protocol, PROTOCOL))
    const options = {
      connect: {
        ...tls,
        timeout: CONNECT_MS,
        pskCallback: () => ({ psk: key, identity }),
        // There is no certificate: a peer without the key cannot finish the handshake.
        checkServerIdentity: () => undefined,
      },
      keepAliveTimeout: IDLE_MS,
      // The first node times what has to be timed: answers may take long, and uploads too.
      headersTimeout: 0,
      bodyTimeout: 0,
    }
    this.#calls = new Pool(address, { ...options, connections: CALLS_AT_ONCE })
    this.#long = new Pool(address, options)
  }

  /** `isLong`: a poll, a file, a stream of events. */
  pool(isLong: boolean): Dispatcher {
    return isLong ? this.#long : this.#calls
  }

  /** Requests in progress fail at once. */
  async destroy(): Promise<void> {
    await Promise.all([this.#calls.destroy(), this.#long.destroy()])
  }
}
