/** Connects to public addresses of the internet only: the address that was checked is the one that is dialled. */
import { BlockList, isIP, type LookupFunction, type Socket } from 'node:net'
import { Agent, buildConnector, Client, errors, Pool } from 'undici'
import { type Resolve, resolveAnything, resolvePublic } from './resolver.ts'

/** The IANA special-purpose registry for IPv4, and what is reserved. */
const special4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const

/** Within 2000::/3, outside of which nothing is public: documentation, tunnels to IPv4, benchmarks. */
const special6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const blocked = new BlockList()
for (const [network, prefix] of special4) blocked.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of special6) blocked.addSubnet(network, prefix, 'ipv6')

const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

/** False for everything that is no address in its plain notation, mapped IPv4 and zones included. */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false
  switch (isIP(address)) {
    case 4:
      return !blocked.check(address, 'ipv4')
    case 6:
      return global6.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
    default:
      return false
  }
}

/** The address is not on the public internet. The error does not name it. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'

  constructor() {
    super('the address is not public')
  }
}

export const CONNECTIONS_PER_ORIGIN = 16

export interface GuardOptions {
  /** Lets private addresses pass: for trying out, never where strangers name the address. */
  readonly allowPrivate?: boolean
  readonly resolve?: Resolve
  /** For each origin. */
  readonly connections?: number
  /** Resolving the name included. */
  readonly connectTimeoutMs?: number
  /** Trusted instead of the usual authorities, in PEM. */
  readonly ca?: string
  /** Dialled instead of what the name resolves to; checked like any other. */
  readonly pinnedAddress?: string
  /** For how long an idle connection is kept; short enough that a changed name is noticed. 0: each request has its own. */
  readonly keepAliveMs?: number
  /** Of one answer with its heads, as they come over the line: some that are long have nothing in them. */
  readonly answerBytes?: number
  /** Called with the address of each new connection. */
  connected?(address: string): void
}

/** For code that passes an agent on without importing undici. */
export type GuardedAgent = Agent

/** Never hand it to the global `fetch`: that one speaks another version of the protocol between the two. */
export function createGuardedAgent(options: GuardOptions): Agent {
  return new Agent({ ...poolOptions(options), factory: forgettablePool, maxOrigins: 10_000 })
}

/**
 * An agent forgets an origin when its last connection closes. It does not where an answer was cut off, since the request
 * still counts then, and nothing would make it look once more: strangers could fill it for ever.
 */
function forgettablePool(origin: string | URL, options: object): Pool {
  const pool = new Pool(origin, options)
  let isSecondLook = false
  pool.on('disconnect', (...event) => {
    if (isSecondLook) return
    setImmediate(() => {
      isSecondLook = true
      pool.emit('disconnect', ...event)
      isSecondLook = false
    })
  })
  return pool
}

/** One connection to an origin, for one request at a time; it is opened again whenever there is need. */
export type Connection = Client

/** Who speaks over a connection once there is one. */
export interface ConnectionUser {
  use(connection: Connection): void
}

interface ConnectionsOptions extends Client.Options {
  /** At most so many at once. */
  readonly connections: number
}

/**
 * For who speaks to one origin only, again and again. A pool looks through all of its connections for each request, and has
 * the next one wait until the one before has left the event loop: with 32 requests at once that is a sixth of the client's
 * processor time, and with 3,000 that are held a half.
 */
export class Connections {
  readonly #origin: string
  readonly #options: ConnectionsOptions
  readonly #all = new Set<Connection>()
  /** The one that was used last is the next one to be used. */
  readonly #idle: Connection[] = []
  readonly #waiting = new Set<ConnectionUser>()
  #isRetired = false
  #isClosed = false

  constructor(origin: string, options: ConnectionsOptions) {
    this.#origin = origin
    this.#options = options
  }

  /** As soon as one is free. Nobody else gets it until it is given back; one that is closed refuses its request. */
  take(user: ConnectionUser): void {
    const connection = this.#idle.pop()
    if (connection) user.use(connection)
    else if (this.#isRetired || this.#all.size < this.#options.connections) user.use(this.#open())
    else this.#waiting.add(user)
  }

  /** Whoever does not want one any more. */
  leave(user: ConnectionUser): void {
    this.#waiting.delete(user)
  }

  /** `isReusable`: its request has got a whole answer. */
  giveBack(connection: Connection, isReusable: boolean): void {
    if (isReusable && !this.#isRetired && this.#all.has(connection)) this.#idle.push(connection)
    else this.#end(connection)
    const [next] = this.#waiting
    if (!next) return
    this.#waiting.delete(next)
    this.take(next)
  }

  /** Requests that are under way go on, and their connections end with them. Those that wait for one get a new one. */
  retire(): void {
    this.#isRetired = true
    for (const connection of this.#idle.splice(0)) this.#end(connection)
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const next of waiting) next.use(this.#open())
  }

  close(): void {
    this.#isClosed = true
    for (const connection of this.#all) this.#end(connection)
    this.retire()
  }

  #open(): Connection {
    const { connections: _, ...options } = this.#options
    const connection = new Client(this.#origin, options)
    if (this.#isClosed) this.#end(connection)
    else this.#all.add(connection)
    return connection
  }

  #end(connection: Connection) {
    this.#all.delete(connection)
    connection.destroy().catch(() => undefined)
  }
}

/** Such connections to public addresses. */
export class GuardedConnections extends Connections {
  constructor(origin: string, options: GuardOptions) {
    super(origin, poolOptions(options))
  }
}

function poolOptions(options: GuardOptions) {
  const { connections = CONNECTIONS_PER_ORIGIN, keepAliveMs = 10_000 } = options
  return {
    connections,
    pipelining: keepAliveMs === 0 ? 0 : 1,
    keepAliveTimeout: Math.max(1, keepAliveMs),
    // A server may ask for more.
    keepAliveMaxTimeout: Math.max(1, 3 * keepAliveMs),
    allowH2: false,
    connect: guardedConnector(options),
  }
}

/** The hook for a dispatcher that is built elsewhere. */
function guardedConnector(options: GuardOptions): buildConnector.connector {
  const { allowPrivate = false, connectTimeoutMs = 5_000, pinnedAddress, ca, answerBytes } = options
  const resolve = options.resolve ?? (allowPrivate ? resolveAnything : resolvePublic)
  const isAllowed = (address: string) => allowPrivate || isPublicAddress(address)
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    allowH2: false,
    lookup: guardedLookup(resolve, isAllowed),
    ...(ca !== undefined && { ca }),
  } as buildConnector.BuildOptions)

  return (target, callback) => {
    const hostname = pinnedAddress ?? target.hostname.replace(/^\[(.*)\]$/, '$1')
    // A literal address is dialled without being looked up.
    if (isIP(hostname) && !isAllowed(hostname)) {
      queueMicrotask(() => callback(new AddressRefused(), null))
      return
    }
    connect({ ...target, hostname }, (error, socket) => {
      if (error) return callback(error, null)
      const { remoteAddress = '' } = socket
      if (!isAllowed(remoteAddress)) {
        socket.destroy()
        return callback(new AddressRefused(), null)
      }
      options.connected?.(remoteAddress)
      // Node.js tells of broken encryption and goes on, and the client waits for the end of the connection.
      socket.on('error', () => socket.destroy())
      callback(null, guardedAnswers(socket, answerBytes))
    })
  }
}

const REQUEST = /^[A-Z]+ \S+ HTTP\/1\.\d\r\n/
const INTERIM = /^HTTP\/1\.\d 1\d\d/
const CONTINUE = / 100$/
const LINE_LENGTH = 'HTTP/1.1 100'.length
const STATUS_AT = 'HTTP/1.1 '.length
const ONE = 0x31
const HEAD_END = '\r\n\r\n'

/** Of answers that are read for a few words: many times what these may hold, since they may come in single bytes. */
export const SHORT_ANSWER_BYTES = 2 * 1024 * 1024

/**
 * Ends a connection over which an answer has more than `most` bytes. Some servers send `100 Continue` though nobody waits for it:
 * the client takes that for a broken answer, and passes over 102.
 */
function guardedAnswers<Connection extends Socket>(
  socket: Connection,
  most = Number.POSITIVE_INFINITY,
): Connection {
  const { read, write } = socket
  let heads = new InterimHeads()
  let left = most
  const reading = (size?: number) => {
    const chunk: Buffer | null = read.call(socket, size)
    if (chunk === null) return null
    left -= chunk.length
    const isTooLong = left < 0
    if (!isTooLong && heads.rename(chunk)) return chunk
    socket.destroy(
      isTooLong
        ? new errors.ResponseExceededMaxSizeError()
        : new errors.HeadersOverflowError('interim answers without end'),
    )
    return null
  }
  const writing = (...given: Parameters<typeof write>) => {
    const [chunk] = given
    // The client writes each head as a text of its own; other pieces belong to the request before.
    if (typeof chunk === 'string' && REQUEST.test(chunk)) {
      heads = new InterimHeads()
      left = most
    }
    return write.apply(socket, given)
  }
  return Object.assign(socket, { read: reading, write: writing })
}

/** A server may say for minutes that it is at work. Each head takes time here, and a hostile one sends them without end. */
const MOST_INTERIM = 1_000

/** For the pieces of one answer, cut anywhere: renames in the interim heads, and nothing from the head of the answer itself on. */
class InterimHeads {
  #awaited: 'line' | 'end' | 'nothing' = 'line'
  /** The end of the pieces before, as far as it may belong to what is awaited. */
  #before = ''
  #count = 0

  /** False: there are too many. */
  rename(chunk: Buffer): boolean {
    for (let at = 0; at < chunk.length && this.#awaited !== 'nothing'; ) {
      at = this.#awaited === 'line' ? this.#afterLine(chunk, at) : this.#afterHead(chunk, at)
      if (this.#count > MOST_INTERIM) return false
    }
    return true
  }

  #afterLine(chunk: Buffer, at: number): number {
    const digit = chunk[at + STATUS_AT]
    // Nearly every answer has no interim head, and its line is looked at no further.
    if (this.#before === '' && digit !== undefined && digit !== ONE) {
      this.#awaited = 'nothing'
      return chunk.length
    }
    const line = this.#before + chunk.toString('latin1', at, at + LINE_LENGTH - this.#before.length)
    const next = at + line.length - this.#before.length
    this.#before = line
    if (line.length < LINE_LENGTH) return chunk.length
    this.#awaited = INTERIM.test(line) ? 'end' : 'nothing'
    if (CONTINUE.test(line) && this.#awaited === 'end') chunk.write('2', next - 1)
    this.#before = ''
    return next
  }

  #afterHead(chunk: Buffer, at: number): number {
    const text = this.#before + chunk.toString('latin1', at)
    const end = text.indexOf(HEAD_END)
    if (end < 0) {
      this.#before = text.slice(1 - HEAD_END.length)
      return chunk.length
    }
    const next = at + end + HEAD_END.length - this.#before.length
    this.#count++
    this.#awaited = 'line'
    this.#before = ''
    return next
  }
}

/** For sockets that are opened elsewhere: the host with its lookup; undefined for an address that is not allowed. */
export function guardedHost(
  hostname: string,
  { allowPrivate = false, resolve }: Pick<GuardOptions, 'allowPrivate' | 'resolve'>,
): { readonly host: string; readonly lookup: LookupFunction } | undefined {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const isAllowed = (address: string) => allowPrivate || isPublicAddress(address)
  if (isIP(host) && !isAllowed(host)) return undefined
  const known = resolve ?? (allowPrivate ? resolveAnything : resolvePublic)
  return { host, lookup: guardedLookup(known, isAllowed) }
}

/** Of the addresses of a name. */
const MOST_DIALLED = 8

/** One private address refuses all: a mixture of addresses is an attack. */
function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses
        if (!first || !addresses.every(({ address }) => isAllowed(address))) {
          callback(new AddressRefused(), [])
        } else if (options.all) callback(null, addresses.slice(0, MOST_DIALLED))
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, []),
    )
  }
}
