/** The endpoint of one webhook: signs, sends and records attempts, over connections that stay open, with one time limit. */

import type { Logger } from '../../actors/ports/ports.ts'
import type {
  Attempt,
  AttemptRecord,
  Delivery,
  WebhookEndpoint,
  WebhookExchange,
  WebhookKey,
} from '../../actors/ports/webhooks.ts'
import type { WebhookTarget } from '../../machines/webhook/terms.ts'
import { FairSemaphore } from '../fair-semaphore.ts'
import { type GuardedConnection, GuardedConnections, type GuardOptions } from '../net/guard.ts'
import { shownUrl } from './address.ts'
import type { DeliveryPlace } from './delivery-log.ts'
import { type EndpointReply, Exchange, type ExchangeResult, TIMED_OUT } from './exchange.ts'
import { callIn, type ReplyCall } from './reply-call.ts'
import { type SigningSecrets, signatures } from './secrets.ts'

interface ConnectionLimits {
  readonly deliveries: number
  readonly probes: number
}

export const usualConnections: ConnectionLimits = { deliveries: 500, probes: 200 }

/**
 * Limits the parallel attempts of all keys together. Probes of dead endpoints have a limit of their own. Users take
 * turns, so the hanging endpoints of one user do not block the others.
 */
export class Connections {
  readonly #deliveries: FairSemaphore
  readonly #probes: FairSemaphore

  constructor({ deliveries, probes }: ConnectionLimits = usualConnections) {
    this.#deliveries = new FairSemaphore({ places: deliveries })
    this.#probes = new FairSemaphore({ places: probes })
  }

  for(isProbe: boolean): Pick<FairSemaphore, 'take' | 'release'> {
    return isProbe ? this.#probes : this.#deliveries
  }
}

const CONNECT_MS = 5_000
const HEADERS = { 'content-type': 'application/json', 'accept-encoding': 'gzip, deflate' }

export interface EndpointParts {
  readonly guard: Pick<GuardOptions, 'allowPrivate' | 'resolve'>
  /** Time limit of a whole attempt. */
  readonly timeoutMs: number
  readonly secrets: SigningSecrets
  readonly connections: Connections
  readonly logger: Logger
  /** Makes a call that an answer carries. */
  call(apiKeyId: number, call: ReplyCall, traceId: string): Promise<unknown>
  record(place: DeliveryPlace, attempt: AttemptRecord, exchange: WebhookExchange | undefined): void
  /** Whether an attempt tells what went over the wire. */
  keepsExchange(apiKeyId: number, isGood: boolean): boolean
}

/** An attempt that was cut short while it waited for a connection. */
const nowhere: Attempt = {
  ok: false,
  status: undefined,
  error: TIMED_OUT,
  retryAfterMs: undefined,
  durationMs: 0,
}

export class Endpoint implements WebhookEndpoint {
  readonly #apiKeyId: number
  readonly #userId: number
  readonly #place: DeliveryPlace
  readonly #parts: EndpointParts
  readonly #connections: GuardedConnections
  readonly #path: string
  /** Names and values in turn. */
  readonly #headers: readonly string[]
  /** The same as they may be kept: without the values of the headers that the owner added. */
  readonly #keptHeaders: readonly string[]
  /** The oldest first: they run out of time in this order. */
  readonly #underWay = new Set<Exchange>()
  readonly #watched = new WeakSet<AbortSignal>()
  #timer: NodeJS.Timeout | undefined
  #address: string | undefined

  constructor(key: WebhookKey, target: WebhookTarget, parts: EndpointParts) {
    const url = new URL(target.url)
    const { guard, timeoutMs } = parts
    this.#apiKeyId = key.apiKeyId
    this.#userId = key.userId
    this.#place = { key, url: shownUrl(target.url) }
    this.#parts = parts
    this.#path = url.pathname + url.search
    const headers = {
      ...HEADERS,
      'user-agent': 'Chapar',
      ...authorization(url),
      ...(target.secretToken && { 'x-telegram-bot-api-secret-token': target.secretToken }),
    }
    const own = (target.headers ?? []).map(({ name, value }) => [name, value] as const)
    this.#headers = Object.entries({ ...headers, ...Object.fromEntries(own) }).flat()
    const hidden = Object.fromEntries(own.map(([name]) => [name, '[redacted]']))
    this.#keptHeaders = Object.entries({ ...headers, ...hidden }).flat()
    this.#connections = new GuardedConnections(url.origin, {
      ...guard,
      connections: target.maxConnections,
      connectTimeoutMs: Math.min(CONNECT_MS, timeoutMs),
      ...(target.certificate !== undefined && { ca: target.certificate }),
      ...(target.ipAddress !== undefined && { pinnedAddress: target.ipAddress }),
      connected: (address) => {
        this.#address = address
      },
    })
  }

  async deliver(
    { updateId, body, isProbe = false }: Delivery,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const { secrets, connections } = this.#parts
    const known = secrets.known(this.#apiKeyId) ?? (await secrets.load(this.#apiKeyId))
    const places = connections.for(isProbe)
    const waiting = places.take(this.#userId, signal)
    // The time limit of an attempt begins after this wait.
    if (waiting && !(await waiting)) return nowhere
    try {
      // The delivery may have ended while the secrets, or the update, were read.
      if (signal.aborted) return nowhere
      const now = Date.now()
      const began = performance.now()
      // The same for every attempt, so that a receiver recognizes an update that it has seen.
      const id = `${this.#apiKeyId}-${updateId}`
      const timestamp = Math.floor(now / 1000)
      const headers = ['webhook-id', id, 'webhook-timestamp', `${timestamp}`]
      const signature = signatures({ id, timestamp, body }, known.signing, now)
      if (signature !== '') headers.push('webhook-signature', signature)
      const sent = await this.post(body, headers, signal)
      if (sent.reply) void this.#executeReplyCall(sent.reply, id)
      const { status, error, retryAfterMs, answer } = sent
      const durationMs = performance.now() - began
      const outcome = { ok: error === undefined, status, error, retryAfterMs, durationMs }
      if (!this.#parts.keepsExchange(this.#apiKeyId, outcome.ok)) return outcome
      return { ...outcome, exchange: { headers: [this.#keptHeaders, headers], body, answer } }
    } finally {
      places.release(this.#userId)
    }
  }

  /** Never rejects; `headers` are names and values in turn. */
  post(body: string, headers: readonly string[], signal: AbortSignal): Promise<ExchangeResult> {
    const { timeoutMs } = this.#parts
    this.#watch(signal)
    return new Promise((resolve) => {
      let connection: GuardedConnection | undefined
      const ended = (sent: ExchangeResult, isWhole: boolean) => {
        this.#underWay.delete(exchange)
        if (connection) this.#connections.giveBack(connection, isWhole)
        resolve(sent)
      }
      const exchange: Exchange = new Exchange(signal, performance.now() + timeoutMs, ended)
      this.#underWay.add(exchange)
      this.#timer ??= setTimeout(() => this.#expire(), timeoutMs)
      this.#connections.take((free) => {
        connection = free
        // It may have been cut while it waited.
        if (exchange.isOver) this.#connections.giveBack(free, true)
        else free.dispatch(this.#request(body, headers), exchange)
      })
    })
  }

  #request(body: string, headers: readonly string[]) {
    return {
      path: this.#path,
      method: 'POST' as const,
      headers: [...this.#headers, ...headers],
      body,
      headersTimeout: 0,
      bodyTimeout: 0,
      // A connection has one request at a time anyway, so nothing has to be held back behind it.
      blocking: false,
    }
  }

  record(attempt: AttemptRecord, exchange: WebhookExchange | undefined): void {
    this.#parts.record(this.#place, attempt, exchange)
  }

  get address(): string | undefined {
    return this.#address
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#connections.close()
  }

  /** One timer for all exchanges, most of which end long before their time. */
  #expire() {
    this.#timer = undefined
    const now = performance.now()
    for (const exchange of this.#underWay) {
      if (exchange.endsBy > now) {
        this.#timer = setTimeout(() => this.#expire(), Math.ceil(exchange.endsBy - now))
        return
      }
      exchange.cut(TIMED_OUT)
    }
  }

  /** One listener for all exchanges that share a signal. */
  #watch(signal: AbortSignal) {
    if (this.#watched.has(signal)) return
    this.#watched.add(signal)
    const cut = () => {
      for (const exchange of this.#underWay) if (exchange.signal === signal) exchange.cut(TIMED_OUT)
    }
    signal.addEventListener('abort', cut, { once: true })
  }

  /** The receiver does not get the result of its call, so an error is only logged. */
  async #executeReplyCall(reply: EndpointReply, traceId: string): Promise<void> {
    const apiKeyId = this.#apiKeyId
    const call = await callIn(reply)
    if (!call) return
    await this.#parts.call(apiKeyId, call, traceId).catch((err) => {
      this.#parts.logger.warn({ err, apiKeyId }, 'a call in the answer to a webhook failed')
    })
  }
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const user = `${unescaped(username)}:${unescaped(password)}`
  return { authorization: `Basic ${Buffer.from(user).toString('base64')}` }
}

/** Text that is no valid escape stays as it is. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
