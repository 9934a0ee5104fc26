/** Limits open connections, in all and for each address, reads some anew, and closes them in order when the server stops. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { ConnectionError, FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import { networksOf } from '../accounts/client.ts'

/** An event of the server: the connection is from now on read by the one that comes next, which counts in its place. */
export const REPLACED = 'chapar.replaced'

const SWEEP_MS = 50
const SILENT_MS = 250
/**
 * If no answer ends within this time, the remaining connections are cut. On an overloaded machine all answers take
 * long.
 */
const LONGEST_MS = 10_000

type Ended = (socket: Socket) => void

const atEnds = new WeakMap<Server, Ended[]>()

/** Calls back when a connection has closed. A connection has one listener for all who ask: many thousands may be held. */
function onEachEnd(server: Server, listener: Ended): void {
  const known = atEnds.get(server)
  if (known) {
    known.push(listener)
    return
  }
  const all = [listener]
  atEnds.set(server, all)
  function ended(this: Socket): void {
    for (const one of all) one(this)
  }
  server.on('connection', (socket: Socket) => socket.on('close', ended))
}

/** Call it before the server listens; it returns how to close. */
export function drained(app: FastifyInstance): () => Promise<void> {
  const { server } = app
  /** Connections that never sent a request; Node.js stops their timeouts once the server closes. */
  const silent = new Set<Socket>()
  const heard = (socket: Socket) => {
    silent.delete(socket)
  }
  let closedAt = 0
  /** While the server closes, a connection ends with its answer. */
  let endedAt = 0
  server.on('connection', (socket: Socket) => silent.add(socket))
  onEachEnd(server, (socket) => {
    heard(socket)
    endedAt = performance.now()
  })
  server.on('request', ({ socket }: IncomingMessage) => heard(socket))
  server.on(REPLACED, heard)

  const sweep = () => {
    // The first request of a new connection may be in transit.
    if (performance.now() - closedAt > SILENT_MS) for (const socket of silent) socket.destroy()
    if (performance.now() - endedAt > LONGEST_MS) server.closeAllConnections()
    // A connection that is idle only after its last answer would hold the server open for its keep-alive time.
    server.closeIdleConnections()
  }
  return async () => {
    closedAt = endedAt = performance.now()
    const sweeping = setInterval(sweep, SWEEP_MS)
    await app.close().finally(() => clearInterval(sweeping))
  }
}

export interface ConnectionLimits {
  readonly most: number
  /** From one address, or one network of IPv6. */
  readonly perAddress: number
}

interface ConnectionOptions {
  readonly limits: ConnectionLimits
  /** The limit for trusted proxies, whose connections carry the requests of many users. */
  isProxy(address: string): boolean
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
  readonly metrics: {
    connectionRefused(reason: string): void
    openConnections(read: () => number): void
  }
}

/** Kept for health checks, the panel and the management API when bots and strangers have taken all the others. */
const RESERVED_SHARE = 0.05
/** A client on a reserved connection must send its request within this time. */
const RESERVED_MS = 2_000
const LOG_EVERY_MS = 10_000

/** The largest number of connections for these limits; the reserved ones are added. */
export const withReserve = ({ most }: ConnectionLimits): number =>
  most + Math.max(1, Math.ceil(most * RESERVED_SHARE))

/** Call it before the routes are registered. */
export function limitConnections(app: FastifyInstance, options: ConnectionOptions): void {
  const connections = new Connections(options)
  const { server } = app
  server.on('connection', (socket: Socket) => connections.add(socket))
  onEachEnd(server, (socket) => connections.end(socket))
  server.on(REPLACED, (socket: Socket) => connections.replace(socket))
  server.on('drop', () => connections.turnAway('full'))
  server.on('request', (request: IncomingMessage, answer: ServerResponse) =>
    connections.asks(request, answer),
  )
  app.addHook('onRequest', ({ raw, routeOptions }, reply, done) => {
    if (!connections.isReserved(raw.socket)) return done()
    reply.header('connection', 'close')
    // Calls of bots and event streams would keep the reserved connections for long.
    const staysLong = /^\/(bot|file)|\/events$/.test(routeOptions.url ?? '')
    // Once the rest of the request is parsed: the answer to half of one must not close the connection.
    queueMicrotask(() => done(staysLong ? tooMany() : undefined))
  })
}

const tooMany = () =>
  failed('unavailable', 'there are too many connections', { retryAfterSeconds: 1 })

class Connections {
  readonly #options: ConnectionOptions
  readonly #byAddress = new Map<string, number>()
  /** Connections without a request in progress, the longest idle first. */
  readonly #idle = new Set<Socket>()
  readonly #reserved = new WeakSet<Socket>()
  /** Requests under way; a client may send several at once. */
  readonly #underWay = new WeakMap<Socket, number>()
  #open = 0
  #turnedAway = 0
  #loggedAt = Number.NEGATIVE_INFINITY
  /** One function for all: many thousands of answers may be waited for. */
  readonly #answered: (this: ServerResponse) => void
  /** Refused, or replaced by another one. */
  readonly #uncounted = new WeakSet<Socket>()

  constructor(options: ConnectionOptions) {
    this.#options = options
    options.metrics.openConnections(() => this.#open)
    const idle = this.#idle
    const underWay = this.#underWay
    this.#answered = function answered() {
      const { socket } = this.req
      const left = (underWay.get(socket) ?? 1) - 1
      underWay.set(socket, left)
      if (left === 0 && !socket.destroyed) idle.add(socket)
    }
  }

  isReserved(socket: Socket): boolean {
    return this.#reserved.has(socket)
  }

  add(socket: Socket): void {
    const { limits, isProxy } = this.#options
    const address = socket.remoteAddress ?? ''
    if (!isProxy(address) && !this.#countFrom(networksOf(address).narrow, socket)) return
    this.#open++
    this.#idle.add(socket)
    if (this.#open > limits.most) this.#makeRoom(socket)
  }

  asks({ socket }: IncomingMessage, answer: ServerResponse): void {
    this.#idle.delete(socket)
    this.#underWay.set(socket, (this.#underWay.get(socket) ?? 0) + 1)
    answer.on('close', this.#answered)
  }

  /** It stays open, and another one counts in its place. */
  replace(socket: Socket): void {
    this.end(socket)
    this.#uncounted.add(socket)
  }

  turnAway(reason: 'address' | 'full' | 'idle'): void {
    const { logger, limits, metrics } = this.#options
    metrics.connectionRefused(reason)
    this.#turnedAway++
    if (performance.now() - this.#loggedAt < LOG_EVERY_MS) return
    const facts = { connections: this.#turnedAway, reason, open: this.#open, most: limits.most }
    logger.warn(facts, 'connections were turned away')
    this.#loggedAt = performance.now()
    this.#turnedAway = 0
  }

  #countFrom(network: string, socket: Socket): boolean {
    const count = this.#byAddress.get(network) ?? 0
    if (count >= this.#options.limits.perAddress) {
      this.turnAway('address')
      this.#uncounted.add(socket)
      socket.destroy()
      return false
    }
    this.#byAddress.set(network, count + 1)
    return true
  }

  /** A socket that is closed still knows its address, because it was asked for it before. */
  end(socket: Socket): void {
    if (this.#uncounted.has(socket)) return
    this.#open--
    this.#idle.delete(socket)
    const address = socket.remoteAddress ?? ''
    if (this.#options.isProxy(address)) return
    const network = networksOf(address).narrow
    const left = (this.#byAddress.get(network) ?? 1) - 1
    if (left > 0) this.#byAddress.set(network, left)
    else this.#byAddress.delete(network)
  }

  /** Closes the connection that was idle longest; if none is idle, the new one may only use the reserved share. */
  #makeRoom(socket: Socket): void {
    const [oldest] = this.#idle
    if (oldest && oldest !== socket) {
      this.#idle.delete(oldest)
      oldest.destroy()
      this.turnAway('idle')
      return
    }
    this.#reserved.add(socket)
    const look = setInterval(() => {
      if (this.#idle.has(socket)) socket.destroy()
    }, RESERVED_MS)
    socket.once('close', () => clearInterval(look))
  }
}

/** Connections that are read by another one in their place. */
const replaced = new WeakSet<Duplex>()

export const isReplaced = (socket: Duplex): boolean => replaced.has(socket)

/**
 * Reads a connection anew whose request line has letters that are not escaped: curl and simple scripts write texts so.
 * The reference takes them, Node's parser does not. Node accepts any stream as a connection.
 */
class EscapedConnection extends Duplex {
  readonly #socket: Socket
  #isInLine = true

  constructor(socket: Socket, begun: Buffer) {
    super()
    this.#socket = socket
    replaced.add(socket)
    // The parser that gave up listens no longer, and ends nothing that stands still.
    for (const event of ['data', 'end', 'timeout']) socket.removeAllListeners(event)
    this.push(this.#escaped(begun))
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(this.#escaped(chunk))) socket.pause()
    })
    socket.on('end', () => this.push(null))
    socket.on('timeout', () => this.emit('timeout'))
    for (const event of ['error', 'close']) socket.on(event, () => this.destroy())
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  get bytesRead(): number {
    return this.#socket.bytesRead
  }

  /** For an answer that the client does not read. */
  setTimeout(milliseconds: number): this {
    this.#socket.setTimeout(milliseconds)
    return this
  }

  /** One request: the answer ends the connection. */
  #escaped(chunk: Buffer): Buffer {
    if (!this.#isInLine) return chunk
    const end = chunk.indexOf('\n') + 1
    const length = end || chunk.length
    this.#isInLine = end === 0
    const line = chunk
      .toString('latin1', 0, length)
      .replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
    const last = this.#isInLine ? '' : 'Connection: close\r\n'
    return Buffer.concat([Buffer.from(line + last, 'latin1'), chunk.subarray(length)])
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done)
  }

  override _final(done: () => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

/**
 * The bytes of a request whose line has letters that are not escaped, and that begins with these bytes: what came
 * before it would be carried out again, and the rest of another request is not one.
 */
function unescapedIn(error: ConnectionError, socket: Duplex): Buffer | undefined {
  const bytes = error.rawPacket as unknown as Buffer | undefined
  if (error.code !== 'HPE_INVALID_URL' || !bytes) return undefined
  // Escaping it once more would change nothing, and it would be read again without an end.
  if (socket instanceof EscapedConnection) return undefined
  const before = bytes.toString('latin1', 0, error.bytesParsed)
  return /^[A-Z]+ \/[^\s]*$/.test(before) ? bytes : undefined
}

/** Reads the request anew. False, with nothing done, where the letters of its line are not the reason. */
export function readEscaped(
  server: Pick<Server, 'emit'>,
  error: ConnectionError,
  socket: Socket,
): boolean {
  const begun = unescapedIn(error, socket)
  if (!begun) return false
  const reading = new EscapedConnection(socket, begun)
  server.emit(REPLACED, socket)
  server.emit('connection', reading)
  return true
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long an answer may take, in milliseconds. */
    answerWithin?: number
  }
}

/** Calls of the bot API have limits of their own: they wait for updates, take files and send them. */
const hasOwnLimits = (url: string) => /^\/(bot|file)/.test(url)

/** A time limit for answers. Fastify's own ends with the body: it holds for requests that have none. */
export function limitHandlers(app: FastifyInstance, milliseconds: number): void {
  app.addHook('onRoute', (route) => {
    if (!hasOwnLimits(route.url)) {
      route.config = { answerWithin: milliseconds, ...route.config }
    }
  })
  app.addHook('onRequest', ({ routeOptions }, reply, done) => {
    const { answerWithin } = routeOptions.config
    if (answerWithin !== undefined) {
      const timer = setTimeout(() => giveUp(reply), answerWithin)
      reply.raw.once('close', () => clearTimeout(timer))
    }
    done()
  })
}

/** Answers for the handler, whose result is discarded. An answer that has begun can only be cut off. */
function giveUp(reply: FastifyReply): void {
  if (reply.sent) return
  if (reply.raw.headersSent) reply.raw.destroy()
  // Its handler goes on: a second `POST` might do the same once more.
  else if (reply.request.method === 'POST')
    reply.send(failed('timeout', 'the request took too long', { certain: false }))
  else reply.send(failed('unavailable', '', { retryAfterSeconds: 1 }))
}
