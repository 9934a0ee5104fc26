/** One exchange with an endpoint: undici's events up to the one outcome, with a bounded answer. */
import type { Dispatcher } from 'undici'
import type { WebhookExchange } from '../../actors/ports/webhooks.ts'
import { LONGEST_REST_MS } from '../../machines/webhook/machine.ts'
import { Gathered } from '../media/give-back.ts'
import {
  AddressRefused,
  type Connection,
  type ConnectionUser,
  type GuardedConnections,
} from '../net/guard.ts'
import { withoutControl } from '../security/redact.ts'

export const TIMED_OUT = 'Read timeout expired'

/** The rest of a longer answer is not read. It is not inflated here either. */
const REPLY_BYTES = 65_536
/** Longer texts are cut: the endpoint chooses the length of reasons and of names in certificates. */
const ERROR_CHARACTERS = 256

export interface ExchangeResult {
  /** Undefined if there was no answer. */
  readonly status: number | undefined
  readonly error: string | undefined
  readonly retryAfterMs: number | undefined
  /** The body of a good answer with its type and encoding; undefined if it has none. */
  readonly reply: EndpointReply | undefined
  readonly answer: WebhookExchange['answer']
}

export interface EndpointReply {
  readonly type: string
  readonly encoding: string
  readonly body: Buffer
}

const noHeaders = {}
const nothing: readonly Uint8Array[] = []

interface ExchangeParts {
  readonly connections: GuardedConnections
  readonly request: Dispatcher.DispatchOptions
  readonly signal: AbortSignal
  /** By the clock of `performance`. */
  readonly endsBy: number
  ended(sent: ExchangeResult): void
}

export class Exchange implements Dispatcher.DispatchHandler, ConnectionUser {
  /** Among those that are under way; negative if it is not there. */
  place = -1
  readonly #parts: ExchangeParts
  #connection: Connection | undefined
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #reason = ''
  #headers: Readonly<Record<string, string | string[] | undefined>> = noHeaders
  /** Most answers have no body. */
  #gathered: Gathered | undefined
  #bytes = 0
  #isOver = false

  constructor(parts: ExchangeParts) {
    this.#parts = parts
  }

  get signal(): AbortSignal {
    return this.#parts.signal
  }

  get endsBy(): number {
    return this.#parts.endsBy
  }

  get isOver(): boolean {
    return this.#isOver
  }

  use(connection: Connection): void {
    this.#connection = connection
    connection.dispatch(this.#parts.request, this)
  }

  cut(error: string): void {
    this.#end({ error }, false)
    this.#abort()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('the attempt is over'))
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    reason?: string,
  ): void {
    // An interim head is no answer yet.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
    this.#reason = reason ?? ''
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes <= REPLY_BYTES) {
      this.#gathered ??= new Gathered()
      this.#gathered.add(chunk)
    } else {
      this.#answered(undefined, false)
      this.#abort()
    }
  }

  onResponseEnd(): void {
    this.#answered(this.#bytes === 0 ? undefined : this.#reply, true)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end({ error: failureText(error) }, false)
  }

  get #pieces(): readonly Uint8Array[] {
    return this.#gathered?.pieces ?? nothing
  }

  get #reply(): EndpointReply {
    return {
      type: textOf(this.#headers['content-type']),
      encoding: textOf(this.#headers['content-encoding']),
      body: Buffer.concat(this.#pieces),
    }
  }

  #answered(reply: EndpointReply | undefined, isWhole: boolean) {
    const isGood = this.#status >= 200 && this.#status < 300
    if (isGood) this.#end({ reply }, isWhole)
    else {
      const answer = `${this.#status} ${this.#reason}`.trim()
      this.#end({ error: `Wrong response from the webhook: ${answer}` }, isWhole)
    }
  }

  #abort() {
    this.#controller?.abort(new Error('the attempt is over'))
  }

  #end({ error, reply }: Partial<ExchangeResult>, isWhole: boolean) {
    if (this.#isOver) return
    this.#isOver = true
    const sent = {
      status: this.#status || undefined,
      error: error && withoutControl(error.slice(0, ERROR_CHARACTERS)),
      reply,
      answer: this.#status ? { headers: this.#headers, chunks: this.#pieces } : undefined,
      retryAfterMs: error === undefined ? undefined : restOf(this.#headers['retry-after']),
    }
    const { connections, ended } = this.#parts
    // `isWhole`: the answer was read to its end, so the connection may serve another request.
    if (this.#connection) connections.giveBack(this.#connection, isWhole)
    else connections.leave(this)
    ended(sent)
  }
}

const textOf = (header: string | string[] | undefined) => [header ?? ''].flat().at(-1) ?? ''

/** Seconds, or a date. */
function restOf(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined
  const value = textOf(header)
  const ms = /^\d+$/.test(value) ? 1_000 * Number(value) : Date.parse(value) - Date.now()
  return ms > 0 ? Math.min(ms, LONGEST_REST_MS) : undefined
}

const refused = ['ECONNREFUSED']
const timedOut = ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH']
const reset = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']
/** The client gives its parser's errors no code; the others say that lengths differ, and that a protocol was changed. */
const garbled = ['HTTPParserError', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'ERR_ASSERTION']
const unresolved = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'ESERVFAIL', 'ETIMEOUT']

/** The reason of a failed attempt in the reference's words, which reveal nothing of this network. */
export function failureText(error: unknown): string {
  const causes = [...chain(error)]
  if (causes.some((cause) => cause instanceof AddressRefused)) return 'IP address is reserved'
  for (const cause of causes) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    if (refused.includes(code)) return 'Connection refused'
    if (timedOut.includes(code)) return 'Connection timed out'
    if (unresolved.includes(code)) return 'Failed to resolve host: Name or service not known'
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return "The header of the webhook's answer is too long"
    if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return "The webhook's answer is too long"
    if (isOfTls(code)) return `SSL error {${tlsReason(cause)}}`
    if (reset.includes(code)) return 'Connection reset by peer'
    if (garbled.includes(code || cause.name)) return "The webhook's answer is not HTTP"
  }
  return "Can't connect to the webhook"
}

/**
 * OpenSSL's messages name its source files; after a semicolon Node.js adds what would help whoever runs it. Neither is of
 * the endpoint.
 */
const tlsReason = (cause: Error): string =>
  'library' in cause && 'reason' in cause && typeof cause.reason === 'string'
    ? cause.reason
    : (cause.message.split(';', 1)[0] ?? '')

const isOfTls = (code: string) => /CERT|SSL|TLS|SELF_SIGNED|ISSUER|UNABLE_TO|EPROTO|CRL/.test(code)

/** Dialling several addresses ends in one error that contains the errors of all. */
function* chain(error: unknown): IterableIterator<Error> {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth++) {
    yield cause
    if (cause instanceof AggregateError) for (const inner of cause.errors) yield* chain(inner)
    cause = cause.cause
  }
}
