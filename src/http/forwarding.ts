/** Passes each request on to the node that owns the account it concerns, and decides what a caller sees while that node ends or changes. */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough, type Readable, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { NodeRow } from '../../actors/node/observer.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import type { Nodes } from '../nodes/nodes.ts'
import {
  isNamedInBody,
  type Owners,
  type Place,
  type Target,
  targetIn,
  targetOf,
} from '../nodes/owners.ts'
import { type Forwarding, forwardingOf, headersFor, misdirect, Peer } from '../nodes/peers.ts'
import type { Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import { failureBody } from './failure.ts'
import { securityHeaders } from './headers.ts'

/** The node that took a request knows where it came from. Call it before all other hooks. */
export function believeNodes(app: FastifyInstance, isProxy: (address: string) => boolean): void {
  app.addHook('onRequest', (request, _, done) => {
    const from = forwardingOf(request.raw)
    if (from) {
      const { headers } = request
      const isBehindProxy = isProxy(from.client)
      const protocol = (isBehindProxy && headers['x-forwarded-proto']) || 'http'
      Object.defineProperties(request, {
        ip: { value: clientOf(from.client, headers['x-forwarded-for'], isProxy) },
        protocol: { value: String(protocol) },
      })
    }
    done()
  })
}

/** The nearest address that is no proxy, or else the farthest one. */
function clientOf(
  nearest: string,
  forwardedFor: string | string[] | undefined,
  isProxy: (address: string) => boolean,
): string {
  const farther = String(forwardedFor ?? '').split(',')
  const addresses = [nearest, ...farther.map((part) => part.trim()).reverse()].filter(Boolean)
  return addresses.find((address) => !isProxy(address)) ?? addresses.at(-1) ?? ''
}

/** A body up to this size is kept until the answer, so that the request can be repeated. */
const KEPT_BYTES = 65_536
/** Between two looks for the owner of an account that moves. */
const LOOK_MS = 100

type Serve = (request: IncomingMessage, response: ServerResponse) => void

interface ForwardingOptions {
  readonly nodes: Pick<Nodes, 'view' | 'onMembersChanged' | 'isPlacedHere'>
  readonly owners: Owners
  /** Whether this node runs the account. */
  owns(credentialId: number): boolean
  /** What all nodes have in common and nobody else. */
  readonly key: Buffer
  /** How long a request waits for an owner. */
  readonly holdMs: number
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'forwarded' | 'parked'>
}

/** How one try to pass a request on ended. `lost`: nobody knows whether it was carried out. */
type Outcome = 'answered' | 'elsewhere' | 'unsent' | 'lost'

export class RequestForwarder {
  readonly #options: ForwardingOptions
  #peers: ReadonlyMap<number, Peer> = new Map()
  #rows: readonly NodeRow[] = []
  #self: number | undefined
  #isAlone = true
  #parked = 0
  #serve: Serve = (_, response) => answer(response, unavailable.failure)

  constructor(options: ForwardingOptions) {
    this.#options = options
    options.nodes.onMembersChanged(() => this.#membersChanged())
    options.metrics.parked(() => this.#parked)
    this.#membersChanged()
  }

  /** Requests that are answered here go to `serve` from now on. */
  serveBy(serve: Serve): void {
    this.#serve = serve
  }

  /** From a client. */
  readonly take: Serve = (request, response) => {
    const { url = '', method = '' } = request
    // A node alone spends nothing on this.
    if (this.#isAlone) return this.#serve(request, response)
    const target = targetOf(url)
    if (target) {
      if (this.#isHere(target)) return this.#serve(request, response)
      void this.#pass(new Call(request, response), target)
    } else if (isNamedInBody(method, url) && isShort(request)) {
      void this.#passByBody(new Call(request, response))
    } else this.#serve(request, response)
  }

  /** From another node, which has found this one to be the owner. */
  readonly receive: Serve = (request, response) => {
    const target = targetOf(request.url ?? '')
    if (!target || target.kind === 'link' || this.#isHere(target)) {
      return this.#serve(request, response)
    }
    this.#options.owners.look(target).then(
      (place) => {
        const isElsewhere = place && place.owner !== this.#self
        if (isElsewhere) misdirect(response)
        else this.#serve(request, response)
      },
      () => this.#serve(request, response),
    )
  }

  async close(): Promise<void> {
    const peers = [...this.#peers.values()]
    this.#peers = new Map()
    await Promise.all(peers.map((peer) => peer.destroy()))
  }

  #isHere(target: Target): boolean {
    const credentialId = this.#options.owners.credentialOf(target)
    return credentialId !== undefined && this.#options.owns(credentialId)
  }

  async #passByBody(call: Call): Promise<void> {
    const body = await call.keepBody().catch(() => undefined)
    if (!body) return call.leave()
    const target = targetIn(body)
    // What this node has read is passed on to itself: a body cannot be put back.
    await this.#pass(call, target ?? { kind: 'link', id: '' })
  }

  async #pass(call: Call, target: Target): Promise<void> {
    const { owners, holdMs, logger } = this.#options
    const until = performance.now() + holdMs
    let isParked = false
    try {
      let place = await owners.find(target)
      for (;;) {
        const to = this.#nodeOf(place)
        if (to === this.#self && !call.wasRead) return this.#serve(call.request, call.response)
        if (to !== undefined && call.isShort) await call.keepBody()
        if (to !== undefined && (await this.#goesTo(to, call))) return
        if (call.hasLeft) return
        if (performance.now() > until) return call.giveUp()
        if (!isParked) this.#parked++
        isParked = true
        await pause(LOOK_MS)
        place = await owners.look(target)
      }
    } catch (err) {
      logger.debug({ err }, 'a request could not be passed on')
      call.giveUp()
    } finally {
      if (isParked) this.#parked--
    }
  }

  /** The node to ask: the owner if it lives, and this one for what nobody owns and what is refused anyway. */
  #nodeOf(place: Place | undefined): number | undefined {
    if (!place) return this.#self
    const { owner, credentialId } = place
    if (owner !== null && (owner === this.#self || this.#peers.has(owner))) return owner
    const isKnown = this.#rows.some(({ incarnation }) => incarnation === owner)
    // A node that others cannot reach: the caller learns that the account is there.
    if (isKnown || credentialId === undefined) return this.#self
    return this.#options.nodes.isPlacedHere(credentialId) ? this.#self : undefined
  }

  /** Whether the caller has its answer, or has none to expect. */
  async #goesTo(incarnation: number, call: Call): Promise<boolean> {
    const peer = this.#peers.get(incarnation)
    if (!peer) return false
    const outcome = await call.send(peer)
    this.#options.metrics.forwarded(outcome)
    if (outcome === 'answered') return true
    if (outcome === 'lost') return call.wasLost()
    if (!call.canRepeat) {
      call.giveUp()
      return true
    }
    return false
  }

  /** The connections to nodes that have ended fail at once: their callers are not left waiting. */
  #membersChanged(): void {
    const { nodes, key } = this.#options
    const { rows, incarnation } = nodes.view()
    this.#rows = rows
    this.#self = incarnation
    const before = this.#peers
    const reachable = rows.filter(({ address }) => address?.startsWith('https:'))
    this.#isAlone = !reachable.some((row) => row.incarnation !== incarnation)
    // This node is among them: a body that it has read goes to itself.
    this.#peers = new Map(
      reachable.map((row) => [
        row.incarnation,
        before.get(row.incarnation) ?? new Peer(row.address ?? '', key),
      ]),
    )
    for (const [id, peer] of before) if (!this.#peers.has(id)) void peer.destroy()
  }
}

const unavailable = failed('unavailable', 'the account is moving to another node', {
  retryAfterSeconds: 1,
})
const unconfirmed = failed('timeout', 'the message may have been sent', {
  reason: 'sent_unconfirmed',
  certain: false,
})

/** Whether all of the body can be kept. */
const isShort = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= KEPT_BYTES

const HOLD = /^\/bot[^/?]+\/getupdates(?:[?]|$)/i
const OF_BOT = /^\/bot/
const READING = /^\/bot[^/?]+\/get/i

/** One request on its way to the owner of its account. */
class Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly #departure = new AbortController()
  readonly #id = randomBytes(16).toString('base64url')
  readonly isShort: boolean
  #body: Buffer | undefined
  #hasBegun = false
  #isRepeated = false

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request
    this.response = response
    this.isShort = isShort(request)
    response.once('close', () => this.#departure.abort())
  }

  get hasLeft(): boolean {
    return this.response.destroyed
  }

  /** Whether bytes of the body are here and not in the request any more. */
  get wasRead(): boolean {
    return this.#hasBegun || (this.#body?.length ?? 0) > 0
  }

  get canRepeat(): boolean {
    return !this.#hasBegun
  }

  async keepBody(): Promise<Buffer> {
    if (this.#body) return this.#body
    const { headers } = this.request
    const hasNone = Number(headers['content-length'] ?? 0) === 0
    this.#body = hasNone ? Buffer.alloc(0) : Buffer.concat(await this.request.toArray())
    return this.#body
  }

  async send(peer: Peer): Promise<Outcome> {
    const { request, response } = this
    const { method = 'GET', url = '/' } = request
    const isLong = HOLD.test(url) || !this.isShort || method === 'GET'
    try {
      let isElsewhere = false
      await peer.pool(isLong).stream(
        {
          method: method as 'GET',
          path: url,
          headers: headersFor(request, this.#forwarding),
          body: this.#content(),
          signal: this.#departure.signal,
        },
        ({ statusCode, headers }) => {
          isElsewhere = statusCode === 421
          return isElsewhere ? nothing() : headed(response, statusCode, headers)
        },
      )
      return isElsewhere ? 'elsewhere' : 'answered'
    } catch (cause) {
      if (response.headersSent || this.hasLeft) {
        response.destroy()
        return 'answered'
      }
      return neverSent(cause) ? 'unsent' : 'lost'
    }
  }

  /** The node ended while it had the request. Returns whether the caller has an answer now. */
  wasLost(): boolean {
    const { method = 'GET', url = '' } = this.request
    if (HOLD.test(url)) {
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

  /** Nobody could be asked within the time. Long polls go on by themselves. */
  giveUp(): void {
    if (this.response.headersSent || this.hasLeft) return
    if (HOLD.test(this.request.url ?? '')) this.#answerHold()
    else answer(this.response, (this.#isRepeated ? unconfirmed : unavailable).failure)
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

/** The request never left this node. */
const neverSent = (cause: unknown): boolean =>
  /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ERR_SSL_\w+)$/.test(
    String(Object(cause).code),
  )

const nothing = () =>
  new Writable({
    write(_, __, done) {
      done()
    },
  })

type Headers = Record<string, string | string[] | undefined>

function headed(response: ServerResponse, status: number, headers: Headers): ServerResponse {
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...rest } = headers
  response.writeHead(status, rest)
  // A stream of events says nothing for long, but its reader should know that it stands.
  response.flushHeaders()
  return response
}

function answer(response: ServerResponse, failure: Failure): void {
  const body = failureBody(failure)
  const retry = failure.retryAfterSeconds
  reply(response, body.error_code, JSON.stringify(body), {
    ...(retry !== undefined && { 'retry-after': retry }),
  })
}

function reply(response: ServerResponse, status: number, text: string, headers: object = {}): void {
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
