/** Calls of the bot API over HTTP, limited in time and size. The token never appears in errors or logs. */
import type { Readable } from 'node:stream'
import { request } from 'undici'
import {
  type AccountIdentity,
  LONGEST_TRANSFER_MS,
  type WritePermit,
} from '../../../actors/ports/platform.ts'
import type { GuardedAgent } from '../../net/guard.ts'
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
import { type Fields, fields, integer, maybeText, number, present, text } from './fields.ts'

interface ClientOptions {
  /** Without a slash at its end. */
  readonly root: string
  readonly token: string
  readonly agent: GuardedAgent
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
  readonly #agent: GuardedAgent
  readonly #permit: WritePermit | undefined
  readonly #token: string
  readonly #http: HttpClient
  readonly #files: string

  constructor({ root, token, agent, permit }: ClientOptions) {
    this.#agent = agent
    this.#permit = permit
    this.#token = token
    this.#http = new HttpClient({
      root: `${root}/bot${token}`,
      agent,
      ...(permit && { permit }),
    })
    this.#files = `${root}/file/bot${token}/`
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
    const { status, text } = await this.#http.ask(question, options)
    const answer = answerIn(text, status)
    if (answer.envelope.ok || !text.includes(this.#token)) return answer
    return answerIn(text.replaceAll(this.#token, '<token>'), status)
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

  /** A file at the path that getFile gave out. Rejects with `Unanswered`. */
  async file(
    path: string,
    { method, headers }: { method: 'GET' | 'HEAD'; headers: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<FileAnswer> {
    try {
      if (this.#permit && !this.#permit.isValid) await this.#permit.valid()
      const answer = await request(this.#files + path, {
        dispatcher: this.#agent,
        method,
        headers: { ...usualHeaders, ...headers },
        signal,
        headersTimeout: CALL_MS,
        bodyTimeout: LONGEST_TRANSFER_MS,
      })
      return { status: answer.statusCode, headers: answer.headers, body: answer.body }
    } catch (cause) {
      throw unanswered(cause)
    }
  }
}

/** An answer of a bot API is an object with `ok`, under any content type. */
function answerIn(text: string, status: number): BotApiAnswer {
  try {
    const envelope = fields(jsonIn({ status, text }))
    if (typeof envelope.ok === 'boolean') return { status, text, envelope }
  } catch {
    // Without its cause, since an error of the parser quotes the text.
  }
  throw new Unanswered('garbage', `an answer with the status ${status} is not JSON of the bot API`)
}

export function refusalIn({ status, envelope }: BotApiAnswer): Refused {
  const parameters = envelope.parameters == null ? {} : fields(envelope.parameters)
  const code = number(envelope.error_code)
  return new Refused({
    code: code ?? status,
    isStated: code !== undefined,
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
