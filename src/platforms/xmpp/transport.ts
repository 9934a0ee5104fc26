/** One connection of the client library, with what its release 0.14 gets wrong put right. */
import { once } from 'node:events'
import { isIP } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import { domainToASCII } from 'node:url'
import {
  type Client,
  client,
  type Element,
  type LibrarySocket,
  type StreamManagement,
  xml,
} from '@xmpp/client'
import { permitted, type WritePermit } from '../../../actors/ports/platform.ts'
import { guardedHost, isPublicAddress } from '../../net/guard.ts'
import type { Resolve } from '../../net/resolver.ts'
import { Acknowledgements, countSent, pastLibrary, writtenTogether } from './acknowledgements.ts'
import { type ResolvePlaces, resolvePlaces } from './address.ts'
import { ns } from './namespaces.ts'
import { useMechanisms } from './sasl/mechanisms.ts'
import type { AccountKey } from './sasl/scram.ts'

/** The longest whitespace keep-alive, in characters. It must be read at once, not together with the next greeting. */
const LONGEST_PAUSE = 16

export class Pieces {
  #rest: string[] = []

  /** All that is complete by now. */
  take(text: string): string {
    const end = text.lastIndexOf('>') + 1
    if (end === 0 && !isPause(text)) {
      this.#rest.push(text)
      return ''
    }
    const tail = text.slice(end)
    const isWhole = isPause(tail)
    const whole = this.#rest.join('') + (isWhole ? text : text.slice(0, end))
    this.#rest = isWhole ? [] : [tail]
    return whole
  }
}

const isPause = (text: string) => text.length <= LONGEST_PAUSE && text.trim() === ''

/** How the servers of a domain are found, and their addresses. */
export interface Names {
  readonly places: ResolvePlaces
  readonly resolve: Resolve
}

export interface Login {
  readonly local: string
  readonly domain: string
  readonly resource: string
  readonly password: string
  /** Replaces the password where the server takes a proof of it. */
  readonly key: AccountKey
  /** The address to connect to; by default the domain's servers from the DNS. */
  readonly service: string
  readonly plaintextAllowed: boolean
  /** Whether the server may have an address that is not of the internet. */
  readonly allowPrivate: boolean
  /** Absent: the name servers of the system are asked. */
  readonly names?: Names | undefined
  /** Absent: no other node can have this account. */
  readonly permit?: WritePermit | undefined
}

/** The server offers no encryption, and the password must not travel without. */
export class EncryptionMissing extends Error {
  override readonly name = 'EncryptionMissing'
}

/** The server sent more at once than the limit. */
export class Oversized extends Error {
  override readonly name = 'Oversized'
}

/** The weight of an empty element. */
const BARE_ELEMENT = 200

/** Estimates the memory of a stanza, in characters: one may be as large as a thousand others. Not by calls within calls: the depth is the writer's choice. */
export function weightOf(stanza: Element): number {
  let weight = 0
  const rest: (Element | string)[] = [stanza]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next === 'string') {
      weight += next.length
      continue
    }
    weight += BARE_ELEMENT
    for (const value of Object.values(next.attrs)) weight += String(value).length
    for (const child of next.children) rest.push(child)
  }
  return weight
}

/** The state that the next connection needs to resume the stream of this one (XEP-0198). */
export interface Resumption extends Pick<StreamManagement, 'outbound' | 'outbound_q'> {
  /** Empty where nothing can be resumed. */
  readonly id: string
  /** How many stanzas were received. */
  readonly received: number
  /** See `Transport`. */
  readonly isRenamed: boolean
  /** For how many seconds the server keeps a broken stream, where it says so. */
  readonly max?: string | undefined
  /** Where the server wants the stream to be resumed. */
  readonly location?: string | undefined
  /** Of another process: nobody but the account's owners can have taken the resource over. */
  readonly isInherited?: boolean
}

export interface Transport {
  readonly client: Client
  resumption(): Resumption
  /** The same for another process, which gets what is not handled; undefined where something later is handled already. */
  inheritance(): Resumption | undefined
  /** Whether the stream goes by another name than the login's. */
  isRenamed(): boolean
  /** For the stanza that came last: returns what acknowledges it. */
  expect(): () => void
  /** Milliseconds since the peer was last heard of. */
  silence(): number
  isWritable(): boolean
  /** Drops the connection without a word, as a broken network would. */
  cut(): void
}

const STEP_TIMEOUT_MS = 10_000
/** The largest stanza in bytes. Servers accept half a megabyte from each other; an endless one would fill the memory. */
const MOST_BYTES = 2 * 2 ** 20

/** The library would make one for each connection; no server is told of it. */
const userAgent = xml('user-agent')

export function createTransport(login: Login, resumption?: Resumption): Transport {
  let isRenamed = resumption?.isRenamed ?? false
  const transport = client({
    service: login.service,
    domain: login.domain,
    // With the same resource, the account would end the session that took the resource over during the interruption.
    resource: async () => {
      isRenamed = resumption !== undefined && !resumption.isInherited
      return isRenamed ? `${login.resource}-again` : login.resource
    },
    username: login.local,
    userAgent,
    credentials: async (authenticate, mechanisms) => {
      if (!transport.isSecure() && !login.plaintextAllowed) throw new EncryptionMissing()
      await authenticate({ username: login.local, password: login.password }, mechanisms[0])
    },
  })
  keepToOneConnection(transport)
  transport.timeout = STEP_TIMEOUT_MS
  transport.transports = transport.transports.filter(
    ({ prototype }) => prototype.socketParameters('wss://host') === undefined,
  )
  guard(transport, login)
  const endSearch = searchByNames(transport, login.names?.places ?? resolvePlaces)
  useMechanisms(transport, login.key)
  tuneStreamManagement(transport)
  const acknowledgements = new Acknowledgements(transport, resumption?.received ?? 0)
  let { max, location } = resumption ?? {}
  if (resumption) {
    const { id, outbound, outbound_q } = resumption
    // A copy: where this attempt breaks, the next one needs the queue as it was.
    Object.assign(transport.streamManagement, { id, outbound, outbound_q: [...outbound_q] })
  }
  transport.prependListener('element', (element: Element) => {
    if (element.is('enabled', ns.streamManagement)) ({ max, location } = element.attrs)
  })
  keepToClassicLogin(transport)
  guardWrites(transport, login.permit)
  if (!login.allowPrivate) refusePrivate(transport)
  const heard = decodeAcrossChunks(transport)
  const resumptionAfter = (received: number): Resumption => {
    return { ...keptBy(transport.streamManagement), received, isRenamed, max, location }
  }
  return {
    client: transport,
    resumption: () => resumptionAfter(acknowledgements.received),
    inheritance() {
      const { handled } = acknowledgements
      return handled === undefined ? undefined : resumptionAfter(handled)
    },
    expect: () => acknowledgements.expect(),
    isRenamed: () => isRenamed,
    silence: () => performance.now() - heard.at,
    isWritable: () => socketOf(transport)?.writable === true,
    cut() {
      endSearch()
      cut(transport)
    },
  }
}

/** Of a stream that cannot be resumed, the library refuses to begin a new one with the queue. */
const keptBy = ({ id, outbound, outbound_q }: StreamManagement) =>
  id ? { id, outbound, outbound_q } : { id: '', outbound: 0, outbound_q: [] }

/** What follows the end of a connection is not the library's to decide. */
function keepToOneConnection(transport: Client): void {
  // Errors reach those who wait for an attempt; without any listener the emitter would throw.
  transport.on('error', () => undefined)
  // Each part of a transport listens for itself, and Node.js takes more than ten for a leak.
  transport.setMaxListeners(20)
  transport.reconnect.stop()
  // It would follow the server to any host and log in there, beside our own reconnect.
  transport._onSeeOtherHost = (error) => transport.emit('error', error)
}

/** Time for one of several servers, within that of the whole attempt. */
const reachMilliseconds = 5_000

/**
 * Finds the servers of a domain in place of the library. That one asks the domain's web server for more of them, which may lead
 * it to any address and answer without end, and looks each name up on a thread that file operations need, too.
 * Returns what ends the search.
 */
function searchByNames(transport: Client, places: ResolvePlaces): () => void {
  let ending: AbortController | undefined
  let isOver = false
  const { connect } = transport
  transport.connect = async (service) => {
    if (service.includes('://')) return connect.call(transport, service)
    ending = new AbortController()
    const { signal } = ending
    if (isOver) ending.abort()
    for (const server of await serversOf(service, places)) {
      signal.throwIfAborted()
      if (await isReached(transport, server, signal)) return
    }
    throw new Error('No server of the domain can be reached')
  }
  return () => {
    isOver = true
    ending?.abort()
  }
}

const services = { '_xmpps-client._tcp': 'xmpps', '_xmpp-client._tcp': 'xmpp' } as const

/** As RFC 6120 (3.2) and XEP-0368 order them: those that the domain names, and then its own host, unless it offers no service. */
async function serversOf(domain: string, places: ResolvePlaces): Promise<readonly string[]> {
  const host = domainToASCII(domain) || domain
  const own = [`xmpps://${host}:5223`, `xmpp://${host}:5222`]
  if (isIP(host.replace(/^\[(.*)\]$/, '$1'))) return own
  const schemes = new Map(
    Object.entries(services).map(([name, scheme]) => [`${name}.${host}`, scheme]),
  )
  const named = await places([...schemes.keys()])
  const refused = named.filter(({ host }) => host === '').map(({ service }) => schemes.get(service))
  const servers = named
    .filter(({ host }) => host !== '')
    .map(({ service, host, port }) => `${schemes.get(service)}://${host}:${port}`)
  return [...servers, ...(refused.includes('xmpp') ? [] : own.slice(refused.length))]
}

/** Connects the client only to a server that answers: it would report the others as lost connections. */
async function isReached(transport: Client, server: string, signal: AbortSignal): Promise<boolean> {
  const way = transport._findTransport(server)
  if (!way) return false
  const { Socket, Parser } = way.prototype
  Object.assign(transport, { Transport: way, Socket, Parser })
  const parameters = transport.socketParameters(server)
  if (!parameters) return false
  const socket = new Socket()
  const limit = AbortSignal.any([signal, AbortSignal.timeout(reachMilliseconds)])
  try {
    socket.connect(parameters)
    await once(socket, 'connect', { signal: limit })
  } catch {
    // The socket may report more errors, which nobody waits for.
    socket.on('error', () => undefined)
    raw(socket)?.destroy()
    return false
  }
  transport._attachSocket(socket)
  socket.emit('connect')
  return true
}

/** Looked at on the socket, too: what counts is where it leads. */
function refusePrivate(transport: Client): void {
  transport.prependListener('connect', () => {
    if (!isPublicAddress(socketOf(transport)?.remoteAddress ?? '')) cut(transport)
  })
}

/**
 * Dials allowed addresses only. The certificate has to be that of the domain (RFC 6120, 13.7.2.1), as it has to with STARTTLS:
 * under which name the server was found proves nothing.
 */
function guard(transport: Client, { domain, allowPrivate, names }: Login): void {
  const { socketParameters, _findTransport: findTransport } = transport
  const resolve = names?.resolve
  transport._findTransport = (service) => {
    const way = findTransport.call(transport, service)
    const host = way?.prototype.socketParameters(service)?.host
    return host !== undefined && guardedHost(host, { allowPrivate }) ? way : undefined
  }
  transport.socketParameters = (service) => {
    const parameters = socketParameters.call(transport, service)
    if (!parameters) return undefined
    const host = guardedHost(parameters.host, { allowPrivate, ...(resolve && { resolve }) })
    if (!host) return undefined
    const dialled = { ...parameters, ...host }
    // A host may go by its number, which has no place in the greeting of TLS.
    const isNamed = service.startsWith('xmpps:') && !isIP(domain)
    return isNamed ? { ...dialled, servername: domain } : dialled
  }
}

function tuneStreamManagement(transport: Client): void {
  pastLibrary(transport)
  const { streamManagement } = transport
  // Its own check would be a timer for each account, and ends in a close that can outlive the connection; see `Stream`.
  streamManagement.requestAckInterval = 0
  streamManagement.timeout = 0
}

/** The library goes by names as they are written. A server may write a prefix in place of the default namespace. */
function takePrefixes(transport: Client): void {
  transport.prependListener('element', (element: Element) => {
    const [name, xmlns] = [element.getName(), element.getNS()]
    if (name === element.name || xmlns === ns.streams) return
    Object.assign(element, { name, attrs: { ...element.attrs, xmlns } })
  })
}

/** SASL2 with its inline resumption is another login path in the library; servers offer the classic one too. */
function keepToClassicLogin(transport: Client): void {
  transport.prependListener('element', (element: Element) => {
    if (element.is('features', ns.streams)) element.remove('authentication', ns.sasl2)
  })
}

function guardWrites(transport: Client, permit: WritePermit | undefined): void {
  const write = writtenTogether(transport.write.bind(transport), () => socketOf(transport))
  transport.write = permit ? permitted(permit, write) : write
  const isWritable = () => socketOf(transport)?.writable === true
  const unreadBytes = () => socketOf(transport)?.writableLength ?? 0
  countSent(transport, { write, isWritable, unreadBytes, permit })
}

/** The library decodes each chunk by itself and so breaks characters that two chunks share. */
function decodeAcrossChunks(transport: Client): { at: number } {
  // Called last, it hears of an element before all others.
  takePrefixes(transport)
  const heard = { at: performance.now() }
  let decoder = new StringDecoder('utf8')
  let pieces = new Pieces()
  let unfinished = 0
  transport.on('element', () => {
    unfinished = 0
    // The library keeps what stands between stanzas for as long as the stream lives.
    transport.parser?.root?.children.splice(0)
  })
  transport.on('connect', () => {
    // An acknowledgement is asked for right after the stanza; the two must not wait for each other.
    socketOf(transport)?.setNoDelay(true)
    decoder = new StringDecoder('utf8')
    pieces = new Pieces()
    unfinished = 0
    heard.at = performance.now()
  })
  transport.on('open', (root: Element) => {
    // A part of what came in would keep the whole of it in memory, for as long as the stream lives.
    const copy = (part: unknown) => Buffer.from(`${part}`).toString()
    const attrs = Object.entries(root.attrs).map(([name, value]) => [name, copy(value)])
    Object.assign(root, { name: copy(root.name), attrs: Object.fromEntries(attrs) })
  })
  transport._onData = (chunk) => {
    heard.at = performance.now()
    unfinished += chunk.length
    try {
      const text = typeof chunk === 'string' ? chunk : decoder.write(chunk)
      transport.parser?.write(pieces.take(text))
      if (unfinished > MOST_BYTES) throw new Oversized('The server does not end its stanza')
    } catch (cause) {
      // The parser and its listeners throw on what they cannot read; up the stack is only the process.
      transport.emit('error', cause)
      cut(transport)
    }
  }
  return heard
}

function cut(transport: Client): void {
  socketOf(transport)?.destroy()
  // Ends what the library still waits for: else its timers would live on.
  transport.emit('error', new Error('The connection was cut'))
}

const socketOf = ({ socket }: Client) => socket && raw(socket)

/** The library wraps an encrypted socket once more. */
const raw = (socket: LibrarySocket) => ('destroy' in socket ? socket : socket.socket)
