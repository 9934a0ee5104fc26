/** One attempt over HTTP: pooled connections, one time limit for all of it, a bounded answer, no redirects. */
import type { Pool } from 'undici'
import type { WebhookTarget } from '../../machines/webhook/terms.ts'
import { createGuardedPool, type GuardOptions } from '../net/guard.ts'
import { Exchange, type Sent } from './exchange.ts'
import { TIMED_OUT } from './failure-text.ts'

const CONNECT_MS = 5_000
const HEADERS = { 'content-type': 'application/json', 'accept-encoding': 'gzip, deflate' }

export interface SenderOptions extends Pick<GuardOptions, 'allowPrivate' | 'resolve'> {
  /** For the whole attempt. */
  readonly timeoutMs: number
}

export class Sender {
  readonly #pool: Pool
  readonly #timeoutMs: number
  readonly #path: string
  /** Names and values in turn. */
  readonly #headers: readonly string[]
  /** The oldest first: they run out of time in that order. */
  readonly #underWay = new Set<Exchange>()
  readonly #watched = new WeakSet<AbortSignal>()
  #timer: NodeJS.Timeout | undefined
  #address: string | undefined

  constructor(target: WebhookTarget, { timeoutMs, ...guard }: SenderOptions) {
    const url = new URL(target.url)
    this.#timeoutMs = timeoutMs
    this.#path = url.pathname + url.search
    this.#headers = Object.entries({
      ...HEADERS,
      'user-agent': 'Chapar',
      ...authorization(url),
      ...(target.secretToken && { 'x-telegram-bot-api-secret-token': target.secretToken }),
    }).flat()
    this.#pool = createGuardedPool(url.origin, {
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

  /** The one that was connected to last; undefined as long as there was none. */
  get address(): string | undefined {
    return this.#address
  }

  /** Never rejects; `headers` are names and values in turn. */
  send(body: string, headers: readonly string[], signal: AbortSignal): Promise<Sent> {
    this.#watch(signal)
    return new Promise((resolve) => {
      const exchange: Exchange = new Exchange(
        signal,
        performance.now() + this.#timeoutMs,
        (sent) => {
          this.#underWay.delete(exchange)
          resolve(sent)
        },
      )
      this.#underWay.add(exchange)
      this.#timer ??= setTimeout(() => this.#expire(), this.#timeoutMs)
      this.#pool.dispatch(
        {
          path: this.#path,
          method: 'POST',
          headers: [...this.#headers, ...headers],
          body,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        exchange,
      )
    })
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#pool.destroy().catch(() => undefined)
  }

  /** One timer for all: most exchanges end long before their time. */
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

  /** One listener for all that share a signal. */
  #watch(signal: AbortSignal) {
    if (this.#watched.has(signal)) return
    this.#watched.add(signal)
    const cut = () => {
      for (const exchange of this.#underWay) if (exchange.signal === signal) exchange.cut(TIMED_OUT)
    }
    signal.addEventListener('abort', cut, { once: true })
  }
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {}
  const user = `${unescaped(username)}:${unescaped(password)}`
  return { authorization: `Basic ${Buffer.from(user).toString('base64')}` }
}

/** What is no valid escape stays as it is. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
