/** Calls of the bot API over HTTP, limited in time and size. The token never appears in errors or logs. */
import type { Readable } from 'node:stream'
import { type Dispatcher, request } from 'undici'
import type { AccountIdentity } from '../../../actors/ports/platform.ts'
import { Refused, Unanswered, unanswered } from './failures.ts'
import { type Fields, fields, integer, maybeText, number, present, text } from './fields.ts'

interface ClientOptions {
  /** Without a slash at its end. */
  readonly root: string
  readonly token: string
  readonly agent: Dispatcher
}

/** One request in the words of the caller. */
interface Question {
  readonly verb: 'GET' | 'POST'
  /** The name of the method, and the query behind it with its question mark. */
  readonly path: string
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>
  /** Content type of the body. */
  readonly type?: string
  /** Length of the body in bytes, if it is known beforehand. */
  readonly length?: number | undefined
}

interface AskOptions {
  readonly signal: AbortSignal
  /** Time limit of the whole answer; infinity if the signal limits the time. */
  readonly milliseconds?: number
}

/** An answer that is one of a bot API, be it a refusal. */
export interface BotApiAnswer {
  readonly status: number
  readonly text: string
  /** `text` as a value; has a boolean `ok`. */
  readonly envelope: Fields
}

interface FileAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readable
}

const CALL_MS = 60_000
/** The longest transfer of a file. Callers give up earlier if no bytes move. */
const TRANSFER_MS = 3_600_000
const ANSWER_BYTES = 16 * 1024 * 1024
const usual = { 'user-agent': 'Chapar', 'accept-encoding': 'identity' }

export class BotApiClient {
  readonly #agent: Dispatcher
  readonly #token: string
  readonly #origin: string
  readonly #calls: string
  readonly #files: string
  /** Held here, since a signal that joins the caller's with the session's would cost more than the rest of a call. */
  readonly #underWay = new Set<Exchange>()
  #isOver = false

  constructor({ root, token, agent }: ClientOptions) {
    const { origin, pathname } = new URL(root)
    const prefix = pathname.replace(/\/$/, '')
    this.#agent = agent
    this.#token = token
    this.#origin = origin
    this.#calls = `${prefix}/bot${token}/`
    this.#files = `${prefix}/file/bot${token}/`
  }

  /** Resolves with the result. Rejects with `Refused` or `Unanswered`. */
  async call(method: string, parameters: object, options: AskOptions): Promise<unknown> {
    const body = JSON.stringify(parameters)
    const question = { verb: 'POST', path: method, type: 'application/json', body } as const
    const answer = await this.ask(question, options)
    if (answer.envelope.ok === true) return answer.envelope.result
    throw refusalIn(answer)
  }

  /** Resolves with the answer as it came; without the token, which some servers quote. Rejects with `Unanswered`. */
  async ask(question: Question, options: AskOptions): Promise<BotApiAnswer> {
    const { signal, milliseconds = CALL_MS } = options
    const { path, verb: method, body = null } = question
    if (this.#isOver) throw silent()
    const exchange = new Exchange(signal, milliseconds)
    const patience = Number.isFinite(milliseconds) ? milliseconds : TRANSFER_MS
    const request = {
      origin: this.#origin,
      path: this.#calls + path,
      method,
      headers: headersOf(question),
      headersTimeout: patience,
      bodyTimeout: patience,
      // The client accepts iterables, but its types do not say it.
      body: body as string | Uint8Array | null,
    }
    this.#underWay.add(exchange)
    const answer = await this.#exchange(request, exchange)
    if (answer.envelope.ok || !answer.text.includes(this.#token)) return answer
    return answerIn(answer.text.replaceAll(this.#token, '<token>'), answer.status)
  }

  async #exchange(request: Dispatcher.DispatchOptions, exchange: Exchange): Promise<BotApiAnswer> {
    this.#underWay.add(exchange)
    try {
      const { status, bytes } = await exchange.run(() => this.#agent.dispatch(request, exchange))
      return answerIn(bytes.toString(), status)
    } finally {
      this.#underWay.delete(exchange)
    }
  }

  /** Calls under way count as not answered, and no more are made. */
  end(): void {
    this.#isOver = true
    for (const exchange of this.#underWay) exchange.cut()
  }

  /** The account that the token belongs to. */
  async me(options: AskOptions): Promise<AccountIdentity> {
    const result = await this.call('getMe', {}, options)
    try {
      return identityOf(result)
    } catch (cause) {
      throw new Unanswered('garbage', 'the account is not what the API promises', { cause })
    }
  }

  /** A file at the path that getFile gave out. Rejects with `Unanswered`. */
  async file(
    path: string,
    { method, headers }: { method: 'GET' | 'HEAD'; headers: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<FileAnswer> {
    try {
      const answer = await request(`${this.#origin}${this.#files}${path}`, {
        dispatcher: this.#agent,
        method,
        headers: { ...usual, ...headers },
        signal,
        headersTimeout: CALL_MS,
        bodyTimeout: TRANSFER_MS,
      })
      return { status: answer.statusCode, headers: answer.headers, body: answer.body }
    } catch (cause) {
      throw unanswered(cause)
    }
  }
}

/** Names and values in turn, which is the cheapest form. */
function headersOf({ type, length }: Question): string[] {
  const headers = ['user-agent', usual['user-agent'], 'accept-encoding', usual['accept-encoding']]
  if (type !== undefined) headers.push('content-type', type)
  if (length !== undefined) headers.push('content-length', `${length}`)
  return headers
}

const silent = () => new Unanswered('silent', 'no answer')

/** One request on its way: what comes back is gathered, up to a limit of size and of time. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #ended = Promise.withResolvers<{ readonly status: number; readonly bytes: Buffer }>()
  readonly #signal: AbortSignal
  readonly #limit: NodeJS.Timeout | undefined
  readonly #chunks: Buffer[] = []
  #left = ANSWER_BYTES
  #status = 0
  #controller: Dispatcher.DispatchController | undefined
  #aborted: Unanswered | undefined

  constructor(signal: AbortSignal, milliseconds: number) {
    this.#signal = signal
    if (Number.isFinite(milliseconds)) this.#limit = setTimeout(this.cut, milliseconds).unref()
  }

  async run(dispatch: () => void) {
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

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#aborted) controller.abort(this.#aborted)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#status = status
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#left -= chunk.length
    if (this.#left < 0) this.#abort(new Unanswered('garbage', 'an answer is too long'))
    else this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    const [first] = this.#chunks
    const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks)
    this.#ended.resolve({ status: this.#status, bytes })
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

/** An answer of a bot API is an object with `ok`, under any content type. */
function answerIn(text: string, status: number): BotApiAnswer {
  try {
    const envelope = fields(JSON.parse(text))
    if (typeof envelope.ok === 'boolean') return { status, text, envelope }
  } catch {
    // The cause is left out below, because an error of the parser quotes the text.
  }
  throw new Unanswered('garbage', `an answer with the status ${status} is not JSON of the bot API`)
}

export function refusalIn({ status, envelope }: BotApiAnswer): Refused {
  const parameters = envelope.parameters == null ? {} : fields(envelope.parameters)
  return new Refused({
    code: number(envelope.error_code) ?? status,
    description: maybeText(envelope.description) ?? '',
    retryAfterSeconds: number(parameters.retry_after),
    migrateToChatId: number(parameters.migrate_to_chat_id),
  })
}

function identityOf(result: unknown): AccountIdentity {
  const { id, first_name, last_name, username } = fields(result)
  return present({
    native: `${integer(id)}`,
    firstName: text(first_name),
    lastName: maybeText(last_name),
    username: maybeText(username),
  })
}
