/** One connection of the client library, with what its release 0.14 gets wrong put right. */
import { isIP } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import { type Client, client, type Element, type StreamManagement, type Way } from '@xmpp/client'
import { permitted, type WritePermit } from '../../../actors/ports/platform.ts'
import { isPublicAddress } from '../../net/guard.ts'
import { Acknowledgements } from './acknowledgements.ts'
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
interface Resumption extends Pick<StreamManagement, 'id' | 'outbound' | 'outbound_q'> {
  /** How many stanzas were received. */
  readonly received: number
  /** See `Transport`. */
  readonly isRenamed: boolean
}

export interface Transport {
  readonly client: Client
  resumption(): Resumption
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

export function createTransport(login: Login, resumption?: Resumption): Transport {
  let isRenamed = resumption?.isRenamed ?? false
  const transport = client({
    service: login.service,
    domain: login.domain,
    // With the same resource, the account would end the session that took the resource over during the interruption.
    resource: async () => {
      isRenamed = resumption !== undefined
      return isRenamed ? `${login.resource}-again` : login.resource
    },
    username: login.local,
    credentials: async (authenticate, mechanisms) => {
      if (!transport.isSecure() && !login.plaintextAllowed) throw new EncryptionMissing()
      await authenticate({ username: login.local, password: login.password }, mechanisms[0])
    },
  })
  // Errors reach those who wait for an attempt; without any listener the emitter would throw.
  transport.on('error', () => undefined)
  transport.reconnect.stop()
  transport.timeout = STEP_TIMEOUT_MS
  transport.transports = transport.transports.map((way) => certified(way, login.domain))
  useMechanisms(transport, login.key)
  tuneStreamManagement(transport)
  const acknowledgements = new Acknowledgements(transport, resumption?.received ?? 0)
  if (resumption) {
    const { id, outbound, outbound_q } = resumption
    Object.assign(transport.streamManagement, { id, outbound, outbound_q })
  }
  keepToClassicLogin(transport)
  if (login.permit) transport.write = permitted(login.permit, transport.write.bind(transport))
  // The library would follow the server to any host and log in there, beside our own reconnect.
  transport._onSeeOtherHost = (error) => transport.emit('error', error)
  if (!login.allowPrivate) refusePrivate(transport)
  const heard = decodeAcrossChunks(transport)
  return {
    client: transport,
    resumption() {
      const { id, outbound, outbound_q } = transport.streamManagement
      return { id, outbound, outbound_q, received: acknowledgements.received, isRenamed }
    },
    expect: () => acknowledgements.expect(),
    isRenamed: () => isRenamed,
    silence: () => performance.now() - heard.at,
    isWritable: () => socketOf(transport)?.writable === true,
    cut: () => cut(transport),
  }
}

/** Looked at where it counts, on the socket: names may resolve to anything, and to something else the next time. */
function refusePrivate(transport: Client): void {
  transport.prependListener('connect', () => {
    if (!isPublicAddress(socketOf(transport)?.remoteAddress ?? '')) cut(transport)
  })
}

/**
 * The certificate has to be that of the domain (RFC 6120, 13.7.2.1), as it has to with STARTTLS: under which name the
 * server was found proves nothing.
 */
function certified(way: Way, domain: string): Way {
  return class extends way {
    override socketParameters(service: string) {
      const parameters = super.socketParameters(service)
      const isEncrypted = service.startsWith('xmpps:') && typeof parameters === 'object'
      // A host may go by its number, which has no place in the greeting of TLS.
      return isEncrypted && !isIP(domain) ? { ...parameters, servername: domain } : parameters
    }
  }
}

function tuneStreamManagement({ streamManagement }: Client): void {
  // Sends wait for their acknowledgement, so it is asked for right after the burst they are part of.
  streamManagement.requestAckDebounce = 1
  streamManagement.requestAckInterval = 30_000
  // Its own check ends in a close that can outlive the connection and hit the next one; see `Stream`.
  streamManagement.timeout = 0
}

/** SASL2 with its inline resumption is another login path in the library; servers offer the classic one too. */
function keepToClassicLogin(transport: Client): void {
  transport.prependListener('element', (element: Element) => {
    if (element.is('features', ns.streams)) element.remove('authentication', ns.sasl2)
  })
}

/** The library decodes each chunk by itself and so breaks characters that two chunks share. */
function decodeAcrossChunks(transport: Client): { at: number } {
  const heard = { at: performance.now() }
  let decoder = new StringDecoder('utf8')
  let pieces = new Pieces()
  let unfinished = 0
  transport.on('element', () => {
    unfinished = 0
  })
  transport.on('connect', () => {
    // An acknowledgement is asked for right after the stanza; the two must not wait for each other.
    socketOf(transport)?.setNoDelay(true)
    decoder = new StringDecoder('utf8')
    pieces = new Pieces()
    unfinished = 0
    heard.at = performance.now()
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

/** The library wraps an encrypted socket once more. */
function socketOf({ socket }: Client) {
  return socket && !('destroy' in socket) ? socket.socket : socket
}
