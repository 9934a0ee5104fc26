/** Calls of the bot API over HTTP, limited in time and size. The token never appears in errors or logs. */
import { Readable } from 'node:stream'
import { request } from 'undici'
import {
  type AccountIdentity,
  LONGEST_TRANSFER_MS,
  type WritePermit,
} from '../../../actors/ports/platform.ts'
import type { GuardedAgent, GuardedConnections } from '../../net/guard.ts'
import {
  type AskOptions,
  CALL_MS,
  HttpClient,
  jsonIn,
  type Question,
  Unanswered,
  unanswered,
  usualHeaders,
} from '../kit/http-client.ts'
import { Refused } from './failures.ts'
import {
  type Fields,
  fields,
  integer,
  maybeFields,
  maybeText,
  number,
  present,
  text,
} from './fields.ts'

interface ClientOptions {
  /** Without a slash at its end. */
  readonly root: string
  readonly token: string
  readonly agent: GuardedConnections
  /** For files. */
  readonly files: GuardedAgent
  /** Absent: no other node can have this bot. */
  readonly permit?: WritePermit
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

export class BotApiClient {
  readonly #permit: WritePermit | undefined
  readonly #token: string
  readonly #http: HttpClient
  readonly #files: { readonly agent: GuardedAgent; readonly root: string }

  constructor({ root, token, agent, files, permit }: ClientOptions) {
    this.#permit = permit
    this.#token = token
    this.#http = new HttpClient({
      root: `${root}/bot${token}`,
      agent,
      ...(permit && { permit }),
    })
    this.#files = { agent: files, root: `${root}/file/bot${token}/` }
  }

  /** Resolves with the result. Rejects with `Refused` or `Unanswered`. */
  async call(method: string, parameters: object, options: AskOptions): Promise<unknown> {
    const body = JSON.stringify(parameters)
    const question = { verb: 'POST', path: method, type: 'application/json', body } as const
    const answer = await this.ask(question, options)
    if (answer.envelope.ok === true) return answer.envelope.result
    throw refusalIn(answer)
  }

  /** Resolves with the answer as it came, but for the token. Rejects with `Unanswered`. */
  async ask(question: Question, options: AskOptions): Promise<BotApiAnswer> {
    const { status, text } = await this.#http.ask(question, options)
    const answer = answerIn(text, status)
    const mayQuote = !answer.envelope.ok || GIVES_PATH.test(question.path)
    if (!mayQuote || !text.includes(this.#token)) return answer
    return answerIn(this.#withoutToken(text), status)
  }

  /** Calls under way count as not answered, and no more are made. */
  end(): void {
    this.#http.end()
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

  /**
   * A file at the path that getFile gave out, or why there is none. Rejects with `Refused` where the token is refused, and
   * with `Unanswered`.
   */
  async file(
    path: string,
    { method, headers }: { method: 'GET' | 'HEAD'; headers: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<FileAnswer> {
    try {
      if (this.#permit && !this.#permit.isValid) await this.#permit.valid()
      const answer = await request(this.#files.root + path, {
        dispatcher: this.#files.agent,
        method,
        headers: { ...usualHeaders, ...headers },
        signal,
        headersTimeout: CALL_MS,
        bodyTimeout: LONGEST_TRANSFER_MS,
      })
      const { statusCode: status, headers: told, body } = answer
      if (FILE_STATUSES.includes(status)) return { status, headers: told, body }
      const text = this.#withoutToken((await textOf(body)) ?? '')
      if (status === 401) throw refusalIn(answerIn(text, status))
      return { status, headers: told, body: Readable.from([Buffer.from(text)]) }
    } catch (cause) {
      throw cause instanceof Refused || cause instanceof Unanswered
        ? cause
        : unanswered(cause, false)
    }
  }

  #withoutToken(text: string): string {
    return text.replaceAll(this.#token, '<token>')
  }
}

/** A server that runs for one owner (`--local`) gives out paths on its disk, with the token in them. */
const GIVES_PATH = /^getfile(?![a-z])/i

/** Of an answer that is a file, a part of one, or nothing newer. */
const FILE_STATUSES = [200, 206, 304]
const REFUSAL_BYTES = 65_536

/** Undefined for more text than any bot API has for a refusal. */
async function textOf(body: Readable): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let left = REFUSAL_BYTES
  for await (const piece of body as AsyncIterable<Buffer>) {
    left -= piece.length
    // Ends the answer, too.
    if (left < 0) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** An answer of a bot API is an object with `ok`, under any content type. */
function answerIn(text: string, status: number): BotApiAnswer {
  try {
    const envelope = fields(jsonIn({ status, text }))
    if (typeof envelope.ok === 'boolean' && status < 600) return { status, text, envelope }
  } catch {
    // Without its cause, since an error of the parser quotes the text.
  }
  throw new Unanswered('garbage', `an answer with the status ${status} is not JSON of the bot API`)
}

export function refusalIn({ status, envelope }: BotApiAnswer): Refused {
  const parameters = maybeFields(envelope.parameters)
  const code = number(envelope.error_code)
  return new Refused({
    code: code ?? status,
    isStated: code !== undefined,
    description: maybeText(envelope.description) ?? '',
    retryAfterSeconds: secondsIn(parameters.retry_after),
    migrateToChatId: number(parameters.migrate_to_chat_id),
  })
}

const LONGEST_WAIT_SECONDS = 86_400

/** A wait that is none would be asked for at once and for ever; a timer that is too long ends at once. */
function secondsIn(value: unknown): number | undefined {
  const seconds = number(value)
  return seconds === undefined
    ? undefined
    : Math.min(Math.max(1, Math.ceil(seconds)), LONGEST_WAIT_SECONDS)
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
