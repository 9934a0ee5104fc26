/** Requests to one server over HTTP: limited in time and size, and clear about whether one may have been carried out. */
import type { Dispatcher } from 'undici'
import { LONGEST_TRANSFER_MS, type WritePermit } from '../../../actors/ports/platform.ts'
import { failed, type RequestFailed } from '../../../machines/model/failure.ts'
import { longIntegerSpans } from '../../json/spans.ts'
import { Gathered } from '../../media/give-back.ts'
import { AddressRefused, type GuardedAgent } from '../../net/guard.ts'

/**
 * There is no answer. `unreachable`: nothing was sent; `silent`, `broken`: it was, and may have been carried out;
 * `garbage`: the answer is not what the protocol promises.
 */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
  readonly how: 'unreachable' | 'silent' | 'broken' | 'garbage'

  constructor(how: Unanswered['how'], detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.how = how
  }
}

interface HttpClientOptions {
  /** The address to which the paths of requests are appended. */
  readonly root: string
  /** A guarded one: it dials public addresses only, unless the operator allows others. Its owner closes it. */
  readonly agent: GuardedAgent
  /** Sent with each request, such as the account's token. No error contains them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Asked as a request begins. Absent: no other node can have this account. */
  readonly permit?: WritePermit
}

/** One request in the words of the caller. */
export interface Question {
  readonly verb: 'GET' | 'POST'
  /** Appended to the root after a slash; with the query behind it, if there is one. */
  readonly path: string
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>
  /** Content type of the body. */
  readonly type?: string
  /** Length of the body in bytes, if it is known beforehand. */
  readonly length?: number | undefined
}

export interface AskOptions {
  readonly signal: AbortSignal
  /** Time limit of the whole answer; infinity if the signal limits the time. */
  readonly milliseconds?: number
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

export const CALL_MS = 60_000
const ANSWER_BYTES = 16 * 1024 * 1024
export const usualHeaders = { 'user-agent': 'Chapar', 'accept-encoding': 'identity' }

export class HttpClient {
  readonly #agent: Dispatcher
  readonly #permit: WritePermit | undefined
  readonly #origin: string
  readonly #prefix: string
  /** Names and values in turn, which is the cheapest form. */
  readonly #headers: readonly string[]
  /** Held here, since a signal that joins the caller's with the session's would cost more than the rest of a call. */
  readonly #underWay = new Set<Exchange>()
  #isOver = false

  constructor({ root, agent, headers = {}, permit }: HttpClientOptions) {
    const { origin, pathname } = new URL(root)
    this.#agent = agent
    this.#permit = permit
    this.#origin = origin
    this.#prefix = `${pathname.replace(/\/$/, '')}/`
    this.#headers = Object.entries({ ...usualHeaders, ...headers }).flat()
  }

  /** Resolves with any answer that came whole; redirects are not followed. Rejects with `Unanswered`. */
  async ask(question: Question, options: AskOptions): Promise<HttpAnswer> {
    const { signal, milliseconds = CALL_MS } = options
    const { path, verb: method, body = null, type, length } = question
    if (this.#isOver) throw silent()
    const headers = [...this.#headers]
    if (type !== undefined) headers.push('content-type', type)
    if (length !== undefined) headers.push('content-length', `${length}`)
    const patience = Number.isFinite(milliseconds) ? milliseconds : LONGEST_TRANSFER_MS
    const request = {
      origin: this.#origin,
      path: this.#prefix + path,
      method,
      headers,
      headersTimeout: patience,
      bodyTimeout: patience,
      // The client accepts iterables, but its types do not say it.
      body: body as string | Uint8Array | null,
    }
    const exchange = new Exchange(signal, milliseconds)
    this.#underWay.add(exchange)
    try {
      return await exchange.run(() => this.#dispatch(request, exchange))
    } finally {
      this.#underWay.delete(exchange)
    }
  }

  #dispatch(request: Dispatcher.DispatchOptions, exchange: Exchange): void {
    const dispatch = () => void this.#agent.dispatch(request, exchange)
    if (!this.#permit || this.#permit.isValid) dispatch()
    else this.#permit.valid().then(dispatch, exchange.refuse)
  }

  /** Requests under way count as not answered, and no more are made. */
  end(): void {
    this.#isOver = true
    for (const exchange of this.#underWay) exchange.cut()
  }
}

/** The JSON of an answer; an integer that a number cannot hold is its digits as text. Throws `Unanswered`. */
export function jsonIn({ status, text }: Pick<HttpAnswer, 'status' | 'text'>): unknown {
  try {
    return parseJson(text)
  } catch {
    // Without its cause: an error of the parser quotes what it read.
    throw new Unanswered('garbage', `an answer with the status ${status} is not JSON`)
  }
}

function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  let exact = ''
  let done = 0
  for (const { from, to } of longIntegerSpans(text)) {
    const digits = text.slice(from, to)
    if (Number.isSafeInteger(Number(digits))) continue
    exact += `${text.slice(done, from)}"${digits}"`
    done = to
  }
  return done === 0 ? value : JSON.parse(exact + text.slice(done))
}

const BEFORE_SENDING = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
]

/** A request ended without an answer. The texts name no URL, because it may contain a token. */
export function unanswered(cause: unknown): Unanswered {
  const { name, code } = cause as { readonly name?: string; readonly code?: unknown }
  if (name === 'AbortError' || name === 'TimeoutError') return silent()
  // It has no code either, but something was sent.
  if (name === 'HTTPParserError') return new Unanswered('garbage', 'an answer is not HTTP')
  // Sockets and the client name their errors; what has no name came from looking up the host.
  const isEarly =
    cause instanceof AddressRefused ||
    typeof code !== 'string' ||
    BEFORE_SENDING.includes(code) ||
    /CERT|TLS|SSL/.test(code)
  const how = isEarly ? 'unreachable' : 'broken'
  const reason =
    cause instanceof AddressRefused ? 'the address is not public' : String(code ?? 'no address')
  return new Unanswered(how, reason)
}

/** The failure for the caller of an operation. Any other cause is a defect in reading the answer. */
export function unansweredFailure(cause: unknown, network: string): RequestFailed {
  const uncertain = { certain: false }
  switch (cause instanceof Unanswered ? cause.how : 'garbage') {
    case 'unreachable':
      return failed(
        'unavailable',
        `${network} cannot be reached`,
        { reason: 'platform_unreachable', params: { platform: network }, retryAfterSeconds: 5 },
        { cause },
      )
    case 'silent':
    case 'broken':
      return failed('timeout', `${network} did not answer; it may have been done`, uncertain, {
        cause,
      })
    case 'garbage':
      return failed(
        'bad_gateway',
        `${network} gave no proper answer; it may have been done`,
        uncertain,
        { cause },
      )
  }
}

const silent = () => new Unanswered('silent', 'no answer')

/** A byte order mark is no part of a text. */
const withoutMark = (text: string) => (text.startsWith('\ufeff') ? text.slice(1) : text)

/** One request on its way: what comes back is gathered, up to a limit of size and of time. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #ended = Promise.withResolvers<HttpAnswer>()
  readonly #signal: AbortSignal
  readonly #limit: NodeJS.Timeout | undefined
  readonly #gathered = new Gathered()
  #left = ANSWER_BYTES
  #status = 0
  #headers: HttpAnswer['headers'] = {}
  #controller: Dispatcher.DispatchController | undefined
  #aborted: Unanswered | undefined

  constructor(signal: AbortSignal, milliseconds: number) {
    this.#signal = signal
    if (Number.isFinite(milliseconds)) this.#limit = setTimeout(this.cut, milliseconds).unref()
  }

  async run(dispatch: () => void): Promise<HttpAnswer> {
    this.#signal.addEventListener('abort', this.cut, { once: true })
    try {
      if (this.#signal.aborted) this.cut()
      else dispatch()
      return await this.#ended.promise
    } catch (cause) {
      throw cause instanceof Unanswered ? cause : unanswered(cause)
    } finally {
      clearTimeout(this.#limit)
      this.#signal.removeEventListener('abort', this.cut)
    }
  }

  readonly cut = () => this.#abort(silent())

  /** Nothing was sent. */
  readonly refuse = () =>
    this.#abort(new Unanswered('unreachable', 'this node may not speak for the account'))

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#aborted) controller.abort(this.#aborted)
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: HttpAnswer['headers'],
  ): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#left -= chunk.length
    if (this.#left < 0) this.#abort(new Unanswered('garbage', 'an answer is too long'))
    else this.#gathered.add(chunk)
  }

  onResponseEnd(): void {
    const { pieces } = this.#gathered
    const [first] = pieces as readonly Buffer[]
    const bytes = first && pieces.length === 1 ? first : Buffer.concat(pieces)
    const text = withoutMark(bytes.toString())
    this.#ended.resolve({ status: this.#status, headers: this.#headers, text })
  }

  onResponseError(_: Dispatcher.DispatchController, cause: Error): void {
    this.#ended.reject(cause)
  }

  /** A request that waits for a connection has no controller yet. */
  #abort(cause: Unanswered): void {
    this.#aborted = cause
    this.#controller?.abort(cause)
    this.#ended.reject(cause)
  }
}
