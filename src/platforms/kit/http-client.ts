/** Requests to one server over HTTP: limited in time and size, and clear about whether one may have been carried out. */
import type { Dispatcher } from 'undici'
import { LONGEST_TRANSFER_MS, type WritePermit } from '../../../actors/ports/platform.ts'
import { failed, type RequestFailed } from '../../../machines/model/failure.ts'
import { longIntegerSpans } from '../../json/spans.ts'
import { Gathered } from '../../media/give-back.ts'
import {
  AddressRefused,
  type Connection,
  type GuardedAgent,
  GuardedConnections,
} from '../../net/guard.ts'

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
  /**
   * Guarded ones: they dial public addresses only, unless the operator allows others. Their owner closes them. Connections
   * to the root's origin cost less than an agent, which looks for them at each request.
   */
  readonly agent: GuardedAgent | GuardedConnections
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
/** As it comes over the line: heads and the frames of chunks are in it, and they may have nothing in them. */
export const ANSWER_LINE_BYTES = 2 * ANSWER_BYTES
export const usualHeaders = { 'user-agent': 'Chapar', 'accept-encoding': 'identity' }

export class HttpClient {
  readonly #lanes: Lanes
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
    this.#lanes = agent instanceof GuardedConnections ? agent : lanesOf(agent)
    this.#permit = permit
    this.#origin = origin
    this.#prefix = `${pathname.replace(/\/$/, '')}/`
    this.#headers = Object.entries({ ...usualHeaders, ...headers }).flat()
  }

  /** Resolves with any answer that came whole; redirects are not followed. Rejects with `Unanswered`. */
  ask(question: Question, { signal, milliseconds = CALL_MS }: AskOptions): Promise<HttpAnswer> {
    if (this.#isOver) return Promise.reject(silent())
    const request = this.#request(question, milliseconds)
    const exchange: Exchange = new Exchange(this.#lanes, signal, () =>
      this.#underWay.delete(exchange),
    )
    this.#underWay.add(exchange)
    exchange.limit(milliseconds)
    const permit = this.#permit
    if (!permit || permit.isValid) exchange.begin(request)
    else permit.valid().then(() => exchange.begin(request), exchange.refuse)
    return exchange.answer
  }

  #request({ path, verb: method, body, type, length }: Question, milliseconds: number) {
    const headers = [...this.#headers]
    if (type !== undefined) headers.push('content-type', type)
    if (length !== undefined) headers.push('content-length', `${length}`)
    const patience = Number.isFinite(milliseconds) ? milliseconds : LONGEST_TRANSFER_MS
    return {
      origin: this.#origin,
      path: this.#prefix + path,
      method,
      headers,
      headersTimeout: patience,
      bodyTimeout: patience,
      // A connection has one request at a time anyway, so nothing has to be held back behind it.
      blocking: false,
      // The client accepts iterables, but its types do not say it.
      body: (body ?? null) as string | Uint8Array | null,
    }
  }

  /** Requests under way count as not answered, and no more are made. */
  end(): void {
    this.#isOver = true
    for (const exchange of this.#underWay) exchange.cut()
  }
}

type Lane = Pick<Connection, 'dispatch'>

interface LaneUser {
  use(lane: Lane): void
}

/** Where requests go out: each takes a lane of its own, and gives it back. */
interface Lanes {
  take(user: LaneUser): void
  leave(user: LaneUser): void
  giveBack(lane: Lane, isReusable: boolean): void
}

/** An agent sees to its connections itself. */
const lanesOf = (agent: GuardedAgent): Lanes => ({
  take: (user) => user.use(agent),
  leave: () => undefined,
  giveBack: () => undefined,
})

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

/**
 * A request ended without an answer. `hasBegun`: it had a connection, so it may have arrived whatever the error says. The
 * texts name no URL, because it may contain a token.
 */
export function unanswered(cause: unknown, hasBegun: boolean): Unanswered {
  const { name, code } = cause as { readonly name?: string; readonly code?: unknown }
  if (name === 'AbortError' || name === 'TimeoutError') return silent()
  // It has no code either, but something was sent.
  if (name === 'HTTPParserError') return new Unanswered('garbage', 'an answer is not HTTP')
  // Sockets and the client name their errors; what has no name came from looking up the host.
  const isEarly =
    !hasBegun &&
    (cause instanceof AddressRefused ||
      typeof code !== 'string' ||
      BEFORE_SENDING.includes(code) ||
      /CERT|TLS|SSL/.test(code))
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
  readonly answer: Promise<HttpAnswer>
  readonly #lanes: Lanes
  readonly #signal: AbortSignal
  readonly #ended: () => void
  readonly #resolve: (answer: HttpAnswer) => void
  readonly #reject: (cause: Unanswered) => void
  #limit: NodeJS.Timeout | undefined
  #request: Dispatcher.DispatchOptions | undefined
  #lane: Lane | undefined
  #first: Buffer | undefined
  /** Mostly there is one piece. */
  #others: Gathered | undefined
  #left = ANSWER_BYTES
  #status = 0
  #headers: HttpAnswer['headers'] = {}
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false

  constructor(lanes: Lanes, signal: AbortSignal, ended: () => void) {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
    this.answer = promise
    this.#resolve = resolve
    this.#reject = reject
    this.#lanes = lanes
    this.#signal = signal
    this.#ended = ended
  }

  limit(milliseconds: number): void {
    if (Number.isFinite(milliseconds)) this.#limit = setTimeout(this.cut, milliseconds).unref()
    if (this.#signal.aborted) this.cut()
    else this.#signal.addEventListener('abort', this.cut, { once: true })
  }

  begin(request: Dispatcher.DispatchOptions): void {
    if (this.#isOver) return
    this.#request = request
    this.#lanes.take(this)
  }

  use(lane: Lane): void {
    this.#lane = lane
    if (this.#request) lane.dispatch(this.#request, this)
  }

  readonly cut = () => this.#abort(silent())

  /** Nothing was sent. */
  readonly refuse = () =>
    this.#abort(new Unanswered('unreachable', 'this node may not speak for the account'))

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(silent())
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
    else if (this.#first) {
      this.#others ??= new Gathered()
      this.#others.add(chunk)
    } else this.#first = chunk
  }

  onResponseEnd(): void {
    if (!this.#end(true)) return
    const first = this.#first ?? Buffer.alloc(0)
    const bytes = this.#others ? Buffer.concat([first, ...this.#others.pieces]) : first
    const text = withoutMark(bytes.toString())
    this.#resolve({ status: this.#status, headers: this.#headers, text })
  }

  onResponseError(_: Dispatcher.DispatchController, cause: Error): void {
    if (!this.#end(false)) return
    const hasBegun = this.#controller !== undefined
    this.#reject(cause instanceof Unanswered ? cause : unanswered(cause, hasBegun))
  }

  /** A request that waits for a connection has no controller yet. */
  #abort(cause: Unanswered): void {
    if (!this.#end(false)) return
    this.#controller?.abort(cause)
    this.#reject(cause)
  }

  /** False if it had ended before. `isWhole`: the answer was read to its end. */
  #end(isWhole: boolean): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#limit)
    this.#signal.removeEventListener('abort', this.cut)
    this.#ended()
    if (this.#lane) this.#lanes.giveBack(this.#lane, isWhole)
    else this.#lanes.leave(this)
    return true
  }
}
