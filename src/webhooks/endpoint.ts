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
import { GuardedConnections, type GuardOptions, SHORT_ANSWER_BYTES } from '../net/guard.ts'
import { shownUrl, webhookUrl } from './address.ts'
import type { DeliveryPlace } from './delivery-log.ts'
import { type EndpointReply, Exchange, type ExchangeResult, TIMED_OUT } from './exchange.ts'
import { callIn, type ReplyCall } from './reply-call.ts'
import { type SigningKey, type SigningSecrets, signatures } from './secrets.ts'

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

function signedHeaders(id: string, body: string, signing: readonly SigningKey[]): string[] {
  const now = Date.now()
  const timestamp = Math.floor(now / 1000)
  const headers = ['webhook-id', id, 'webhook-timestamp', `${timestamp}`]
  const signature = signatures({ id, timestamp, body }, signing, now)
  if (signature !== '') headers.push('webhook-signature', signature)
  return headers
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
  /**
   * Each at its place. No set: it takes another table again and again, and once one of these is old, the collector of young
   * objects holds all that follow for living, with what was under way.
   */
  readonly #underWay: Exchange[] = []
  readonly #watched = new WeakSet<AbortSignal>()
  #timer: NodeJS.Timeout | undefined
  #address: string | undefined

  constructor(key: WebhookKey, target: WebhookTarget, parts: EndpointParts) {
    const url = webhookUrl(target.url)
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
      answerBytes: SHORT_ANSWER_BYTES,
      ...(target.certificate !== undefined && { ca: target.certificate }),
      ...(target.ipAddress !== undefined && { pinnedAddress: target.ipAddress }),
      connected: (address) => {
        this.#address = address
      },
    })
  }

  deliver(delivery: Delivery, signal: AbortSignal): Promise<Attempt> {
    const known = this.#parts.secrets.known(this.#apiKeyId)
    if (known) return this.#deliverInTurn(delivery, known.signing, signal)
    const loading = this.#parts.secrets.load(this.#apiKeyId)
    return loading.then(({ signing }) => this.#deliverInTurn(delivery, signing, signal))
  }

  #deliverInTurn(
    delivery: Delivery,
    signing: readonly SigningKey[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    const places = this.#parts.connections.for(delivery.isProbe ?? false)
    const send = () => this.#send(delivery, signing, signal)
    const waiting = places.take(this.#userId, signal)
    return waiting ? waiting.then((isTaken) => (isTaken ? send() : nowhere)) : send()
  }

  /** Frees the place that was taken for it. */
  #send(
    { updateId, body, isProbe = false }: Delivery,
    signing: readonly SigningKey[],
    signal: AbortSignal,
  ): Promise<Attempt> {
    const places = this.#parts.connections.for(isProbe)
    return new Promise((resolve, reject) => {
      /** Whatever comes of it, the place is free. */
      const end = (attempt: () => Attempt) => {
        places.release(this.#userId)
        try {
          resolve(attempt())
        } catch (cause) {
          reject(cause)
        }
      }
      try {
        // The delivery may have ended while the secrets, or the update, were read.
        if (signal.aborted) return end(() => nowhere)
        const began = performance.now()
        // The same for every attempt, so that a receiver recognizes an update that it has seen.
        const id = `${this.#apiKeyId}-${updateId}`
        const headers = signedHeaders(id, body, signing)
        this.post(body, headers, signal, (sent) => {
          end(() => {
            if (sent.reply) void this.#executeReplyCall(sent.reply, id)
            return this.#attempt(sent, performance.now() - began, { headers, body })
          })
        })
      } catch (cause) {
        end(() => {
          throw cause
        })
      }
    })
  }

  #attempt(
    { status, error, retryAfterMs, answer }: ExchangeResult,
    durationMs: number,
    { headers, body }: { readonly headers: readonly string[]; readonly body: string },
  ): Attempt {
    const outcome = { ok: error === undefined, status, error, retryAfterMs, durationMs }
    if (!this.#parts.keepsExchange(this.#apiKeyId, outcome.ok)) return outcome
    return { ...outcome, exchange: { headers: [this.#keptHeaders, headers], body, answer } }
  }

  /** `ended` is called once, within the time limit; `headers` are names and values in turn. */
  post(
    body: string,
    headers: readonly string[],
    signal: AbortSignal,
    ended: (sent: ExchangeResult) => void,
  ): void {
    const { timeoutMs } = this.#parts
    this.#watch(signal)
    const exchange = new Exchange({
      connections: this.#connections,
      request: this.#request(body, headers),
      signal,
      endsBy: performance.now() + timeoutMs,
      ended: (sent) => {
        this.#leave(exchange)
        ended(sent)
      },
    })
    this.#connections.take(exchange)
    if (exchange.isOver) return
    exchange.place = this.#underWay.push(exchange) - 1
    this.#timer ??= setTimeout(() => this.#expire(), timeoutMs)
  }

  #leave({ place }: Exchange) {
    if (place < 0) return
    const last = this.#underWay.pop()
    if (!last || last.place === place) return
    this.#underWay[place] = last
    last.place = place
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
    this.#cut(({ endsBy }) => endsBy <= now)
    const next = Math.min(...this.#underWay.map(({ endsBy }) => endsBy))
    if (next === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(() => this.#expire(), Math.ceil(next - now))
  }

  /** One listener for all exchanges that share a signal. */
  #watch(signal: AbortSignal) {
    if (this.#watched.has(signal)) return
    this.#watched.add(signal)
    const cut = () => this.#cut((exchange) => exchange.signal === signal)
    signal.addEventListener('abort', cut, { once: true })
  }

  #cut(isMeant: (exchange: Exchange) => boolean) {
    // Each leaves the list.
    for (const exchange of this.#underWay.filter(isMeant)) exchange.cut(TIMED_OUT)
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
