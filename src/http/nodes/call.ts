/** One request on its way to the node that owns its account: its body, its tries, and the answer when no node gives one. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { failed, type RequestFailed } from '../../../machines/model/failure.ts'
import type { Failure } from '../../../machines/model/protocol.ts'
import type { Connection, Connections, ConnectionUser } from '../../net/guard.ts'
import { isPoll } from '../../nodes/owners.ts'
import { type Forwarding, headersFor, noteTaken, PEER_NAME, type Peer } from '../../nodes/peers.ts'
import { failureBody } from '../failure.ts'
import { onClosed } from '../gone-signal.ts'
import { securityHeaders } from '../headers.ts'
import { drain } from '../malformed-requests.ts'
import { BodyCopy, isShort, joined, KEPT_BYTES } from './body-copy.ts'

/** The outcome of one attempt to forward a request. `lost`: it is unknown whether it was executed. */
type Outcome = 'answered' | 'elsewhere' | 'unsent' | 'lost'

export const unavailable = failed('unavailable', 'the account is moving to another node', {
  retryAfterSeconds: 1,
})
const unconfirmed = failed('timeout', 'the message may have been sent', {
  reason: 'sent_unconfirmed',
  certain: false,
})

/** It ends with the node, not with the ownership of its account. */
export const isStream = ({ url = '' }: IncomingMessage) => /\/events(?:[?]|$)/.test(url)

const OF_BOT = /^\/bot/
const READING = /^\/bot[^/?]+\/get/i

export class ForwardedCall {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Present while another node has the request. */
  #relay: Relay | undefined
  readonly #id = randomUUID()
  readonly isShort: boolean
  /** For the case that it is served here in the end. */
  readonly copy: BodyCopy | undefined
  #body: Buffer | undefined
  readonly #wasServed: boolean
  #hasBegun = false
  #isRepeated = false

  /** `served`: this node has served it before it lost the account; with its body, unless that was not read. */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    served?: { readonly body: Buffer | undefined },
  ) {
    noteTaken(request)
    this.request = request
    this.response = response
    this.isShort = isShort(request)
    this.copy = served ? undefined : BodyCopy.of(request, response)
    this.#body = served?.body
    this.#wasServed = served !== undefined
    onClosed(response, () => {
      if (!response.writableFinished) this.#relay?.cut()
    })
  }

  get hasLeft(): boolean {
    return this.response.destroyed
  }

  /**
   * Whether this node can answer it only by forwarding it to itself: its body is not in it any more, or its routes have
   * to learn that an earlier try may have been carried out.
   */
  get isOnlyForwarded(): boolean {
    return this.#wasServed || this.#hasBegun || this.#isRepeated
  }

  /** Its answer waits for events. */
  get isHeld(): boolean {
    return isPoll(this.request.url ?? '') || isStream(this.request)
  }

  get canRepeat(): boolean {
    return !this.#hasBegun || this.#body !== undefined || this.copy?.isKept === true
  }

  /** Whether its body has to come before the next try. A longer one goes out as it comes the first time. */
  get isSentWhole(): boolean {
    return this.isShort || this.#hasBegun
  }

  /** Rejects if the client leaves before the body has come, or if it was too long to be kept. */
  async keepBody(): Promise<Buffer> {
    if (this.#body) return this.#body
    // A short one can still be served here, and one that has begun has no reader any more.
    const body = await (this.#hasBegun ? this.copy?.whole() : this.copy?.arrived())
    if (!body) throw new Error('the body has not come')
    this.#body = body
    return body
  }

  async send(peer: Peer): Promise<Outcome> {
    const { request, response } = this
    const { method = 'GET', url = '/' } = request
    const isLong = !this.isShort || method === 'GET'
    const kind = isPoll(url) ? 'held' : isLong ? 'long' : 'short'
    const relay = new Relay(response, this.#isRepeated, peer.connections(kind))
    this.#relay = relay
    relay.begin({
      method: method as 'GET',
      path: url,
      servername: PEER_NAME,
      headers: headersFor(request, this.#forwarding),
      body: this.#content(),
    })
    try {
      const outcome = await relay.outcome
      // The owner may have answered before it had all of the body: the rest of it stands before the next request.
      if (outcome === 'answered' && !request.complete) drain(request)
      if (outcome !== 'refused') return outcome
      answer(response, unconfirmed.failure)
      return 'answered'
    } catch {
      if (response.headersSent || this.hasLeft) {
        response.destroy()
        return 'answered'
      }
      return relay.hasBegun ? 'lost' : 'unsent'
    }
  }

  /** The node ended while it had the request. Returns whether the caller has an answer now. */
  wasLost(): boolean {
    const { method = 'GET', url = '' } = this.request
    if (isPoll(url)) {
      this.#answerHold()
      return true
    }
    const isHarmless = OF_BOT.test(url) ? READING.test(url) : method !== 'POST'
    if (this.canRepeat && (isHarmless || OF_BOT.test(url))) {
      this.#isRepeated ||= !isHarmless
      return false
    }
    answer(this.response, unconfirmed.failure)
    return true
  }

  /** No owner answered within the time. Clients repeat long polls by themselves. */
  giveUp(why = unavailable): void {
    if (!isPoll(this.request.url ?? '')) this.refuse(why)
    else if (!this.response.headersSent && !this.hasLeft) this.#answerHold()
  }

  /** At once: waiting would not help. */
  refuse(why: RequestFailed): void {
    if (this.response.headersSent || this.hasLeft) return
    answer(this.response, (this.#isRepeated ? unconfirmed : why).failure)
  }

  leave(): void {
    this.response.destroy()
  }

  get #forwarding(): Forwarding {
    const { request } = this
    const client = request.socket.remoteAddress ?? ''
    return { client, call: { id: this.#id, isRepeated: this.#isRepeated } }
  }

  #content(): Buffer | Readable | null {
    if (this.#body) return this.#body.length > 0 ? this.#body : null
    this.#hasBegun = true
    // The client destroys a body that it could not send, and with it the connection that still waits for an answer.
    return this.request.pipe(new PassThrough())
  }

  #answerHold(): void {
    reply(this.response, 200, '{"ok":true,"result":[]}')
  }
}

/** The types of the client leave the name out. */
type PeerRequest = Dispatcher.DispatchOptions & { readonly servername: string }

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** `refused`: hidden from the client, because a library would repeat the call, and the first try may have been carried out. */
type Relayed = 'answered' | 'elsewhere' | 'refused'

/** The answer of another node on its way to the client: a short one in one piece, any other as it comes. */
class Relay implements Dispatcher.DispatchHandler, ConnectionUser {
  readonly #response: ServerResponse
  readonly #isRepeated: boolean
  readonly #connections: Connections
  #request: PeerRequest | undefined
  #connection: Connection | undefined
  readonly #ended = Promise.withResolvers<Relayed>()
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #headers: Headers = {}
  /** The body of a short answer: its head goes out with it, which spares a packet. */
  #kept: Buffer[] | undefined

  constructor(response: ServerResponse, isRepeated: boolean, connections: Connections) {
    this.#response = response
    this.#isRepeated = isRepeated
    this.#connections = connections
  }

  begin(request: PeerRequest): void {
    this.#request = request
    this.#connections.take(this)
  }

  use(connection: Connection): void {
    this.#connection = connection
    if (this.#request) connection.dispatch(this.#request, this)
  }

  /** Rejects if the answer did not come whole, or the client has left. */
  get outcome(): Promise<Relayed> {
    return this.#ended.promise
  }

  /** The request had a connection, and may have arrived. */
  get hasBegun(): boolean {
    return this.#controller !== undefined
  }

  /** The client has left. A request whose connection is not open yet has no controller, and is cut once it is. */
  cut(): void {
    const cause = new Error('the client has left')
    this.#connections.leave(this)
    this.#controller?.abort(cause)
    this.#ended.reject(cause)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#response.destroyed) this.cut()
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Headers,
  ): void {
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    if (this.#relayed !== 'answered') return
    if (Number(headers['content-length']) <= KEPT_BYTES) {
      this.#kept = []
      return
    }
    this.#writeHead()
    // A stream of events may be silent for long, but its reader should see that it is open.
    this.#response.flushHeaders()
    this.#response.on('drain', () => controller.resume())
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#relayed !== 'answered') return
    if (this.#kept) this.#kept.push(chunk)
    else if (!this.#response.destroyed && !this.#response.write(chunk)) controller.pause()
  }

  onResponseEnd(): void {
    this.#giveBack(true)
    if (this.#relayed === 'answered' && !this.#response.destroyed) this.#end()
    this.#ended.resolve(this.#relayed)
  }

  onResponseError(_: Dispatcher.DispatchController, cause: Error): void {
    this.#giveBack(false)
    this.#ended.reject(cause)
  }

  #giveBack(isReusable: boolean): void {
    if (this.#connection) this.#connections.giveBack(this.#connection, isReusable)
  }

  get #relayed(): Relayed {
    if (this.#status === 421) return 'elsewhere'
    return this.#isRepeated && [429, 503].includes(this.#status) ? 'refused' : 'answered'
  }

  #writeHead(): void {
    const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...rest } = this.#headers
    this.#response.writeHead(this.#status, { ...securityHeaders, ...rest })
  }

  #end(): void {
    if (!this.#kept) return void this.#response.end()
    this.#writeHead()
    // Node.js writes the head together with a text of this encoding, which keeps each byte, but not with a buffer.
    this.#response.end(joined(this.#kept).toString('latin1'), 'latin1')
  }
}

export function answer(response: ServerResponse, failure: Failure): void {
  const body = failureBody(failure)
  const retry = failure.retryAfterSeconds
  reply(response, body.error_code, JSON.stringify(body), {
    ...(retry !== undefined && { 'retry-after': retry }),
  })
}

export function reply(
  response: ServerResponse,
  status: number,
  text: string,
  headers: object = {},
): void {
  if (response.headersSent || response.destroyed) return
  const length = Buffer.byteLength(text)
  const common = { 'content-type': 'application/json', 'content-length': length }
  const isUnread = !response.req.complete
  response.writeHead(status, {
    ...securityHeaders,
    ...common,
    'x-request-id': randomBytes(16).toString('base64url'),
    ...(isUnread && { connection: 'close' }),
    ...headers,
  })
  response.end(text)
}
