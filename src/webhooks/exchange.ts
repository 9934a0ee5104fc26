/** One exchange with an endpoint, as undici tells of it: up to its one outcome, with a bounded answer. */
import type { Dispatcher } from 'undici'
import { LONGEST_REST_MS } from '../../machines/webhook/schedule.ts'
import { failureText } from './failure-text.ts'

/** More of an answer is not read; it is not inflated either. */
const REPLY_BYTES = 65_536
/** What is shown of a failure: reasons and the names in certificates are as long as the endpoint wants them. */
const ERROR_CHARACTERS = 256

export interface Sent {
  /** Undefined when there was no answer. */
  readonly status: number | undefined
  readonly error: string | undefined
  readonly retryAfterMs: number | undefined
  /** The body of a good answer, if it has one, with what its headers say of it. */
  readonly reply: Reply | undefined
}

export interface Reply {
  readonly type: string
  readonly encoding: string
  readonly body: Buffer
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly signal: AbortSignal
  /** By the clock of `performance`. */
  readonly endsBy: number
  readonly #ended: (sent: Sent) => void
  #controller: Dispatcher.DispatchController | undefined
  #status = 0
  #reason = ''
  #headers: Readonly<Record<string, string | string[] | undefined>> = {}
  #chunks: Buffer[] = []
  #bytes = 0
  #isOver = false

  constructor(signal: AbortSignal, endsBy: number, ended: (sent: Sent) => void) {
    this.signal = signal
    this.endsBy = endsBy
    this.#ended = ended
  }

  cut(error: string): void {
    this.#end({ error }, true)
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
    this.#status = status
    this.#headers = headers
    this.#reason = reason ?? ''
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes <= REPLY_BYTES) this.#chunks.push(chunk)
    else this.#answered(undefined, true)
  }

  onResponseEnd(): void {
    this.#answered(this.#bytes === 0 ? undefined : this.#reply)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end({ error: failureText(error) })
  }

  get #reply(): Reply {
    return {
      type: textOf(this.#headers['content-type']),
      encoding: textOf(this.#headers['content-encoding']),
      body: Buffer.concat(this.#chunks),
    }
  }

  #answered(reply: Reply | undefined, isCut = false) {
    const isGood = this.#status >= 200 && this.#status < 300
    if (isGood) this.#end({ reply }, isCut)
    else {
      const answer = `${this.#status} ${this.#reason}`.trim()
      this.#end({ error: `Wrong response from the webhook: ${answer}` }, isCut)
    }
  }

  #end({ error, reply }: Partial<Sent>, isCut = false) {
    if (this.#isOver) return
    this.#isOver = true
    if (isCut) this.#controller?.abort(new Error('the attempt is over'))
    this.#ended({
      status: this.#status || undefined,
      error: error?.slice(0, ERROR_CHARACTERS),
      reply,
      retryAfterMs: error === undefined ? undefined : restOf(this.#headers['retry-after']),
    })
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
