/** Calls of the bot API over HTTP: limited in time and size, and the token is told to nobody else. */
import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { AccountIdentity, FileStream } from '../../../actors/ports/platform.ts'
import { failed } from '../../../machines/model/failure.ts'
import { type FetchOptions, type OpenResponse, openUrl } from '../../net/fetch.ts'
import { wrongFile } from '../kit/failures.ts'
import { fileIn, rangeFrom } from '../kit/ranged-file.ts'
import { Refused, Unanswered, unanswered } from './failures.ts'
import type { Form } from './multipart.ts'
import { type Fields, fields, integer, maybeText, number, present, text } from './reading/fields.ts'

interface ClientOptions {
  /** Without a slash at its end. */
  readonly root: string
  readonly token: string
  readonly agent: Dispatcher
}

interface CallOptions {
  readonly signal: AbortSignal
  readonly milliseconds?: number
  /** Goes instead of the parameters as JSON. */
  readonly form?: Form
}

const CALL_MS = 60_000
/** Whoever waits for a file gives up earlier, once it moves no more. */
const UPLOAD_MS = 3_600_000
const DOWNLOAD_MS = 900_000
const ANSWER_BYTES = 16 * 1024 * 1024

export class Client {
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    this.#options = options
  }

  /** Resolves with the result. Rejects with `Refused` or `Unanswered`. */
  async call(method: string, parameters: object, options: CallOptions): Promise<unknown> {
    const { form, signal, milliseconds = form ? UPLOAD_MS : CALL_MS } = options
    const { root, token } = this.#options
    const response = await this.#open(`${root}/bot${token}/${method}`, {
      method: 'POST',
      headers: form?.headers ?? { 'content-type': 'application/json' },
      body: form ? form.body() : JSON.stringify(parameters),
      totalMs: milliseconds,
      signal,
    })
    return this.#resultOf(response)
  }

  /** The account that the token belongs to. */
  async me(options: CallOptions): Promise<AccountIdentity> {
    const result = await this.call('getMe', {}, options)
    try {
      return identityOf(result)
    } catch (cause) {
      throw new Unanswered('garbage', 'the account is not what the API promises', { cause })
    }
  }

  /** The bytes of a file from `offset` on. */
  async download(fileId: string, offset: number, signal: AbortSignal): Promise<FileStream> {
    const file = await this.#file(fileId, signal)
    const told = maybeText(file.file_path)
    const path = pathOf(told)
    const { root, token } = this.#options
    const response = await this.#open(`${root}/file/bot${token}/${path}`, {
      headers: rangeFrom(offset),
      totalMs: DOWNLOAD_MS,
      signal,
    })
    const found = fileIn(response, offset, {
      size: number(file.file_size),
      name: told?.split('/').at(-1),
      vagueType: 'application/octet-stream',
    })
    if (found) return found
    throw new Unanswered('garbage', `a file was answered with ${response.status}`)
  }

  async #file(file_id: string, signal: AbortSignal): Promise<Fields> {
    try {
      return fields(await this.call('getFile', { file_id }, { signal }))
    } catch (cause) {
      if (!(cause instanceof Refused) || cause.code !== 400) throw cause
      if (!/too big/i.test(cause.description)) throw wrongFile(cause)
      throw failed('bad_request', 'file is too big', {}, { cause })
    }
  }

  async #open(url: string, options: Omit<FetchOptions, 'agent'>): Promise<OpenResponse> {
    try {
      return await openUrl(url, { ...options, agent: this.#options.agent })
    } catch (cause) {
      throw unanswered(cause)
    }
  }

  async #resultOf({ status, body }: OpenResponse): Promise<unknown> {
    const envelope = envelopeIn(await bounded(body), status)
    if (envelope.ok === true) return envelope.result
    const told = number(envelope.error_code) ?? status
    const parameters = envelope.parameters == null ? {} : fields(envelope.parameters)
    throw new Refused({
      code: told,
      description: (maybeText(envelope.description) ?? '').replaceAll(
        this.#options.token,
        '<token>',
      ),
      retryAfterSeconds: number(parameters.retry_after),
      migrateToChatId: number(parameters.migrate_to_chat_id),
    })
  }
}

/** Whatever its type is said to be, the answer of a bot API is an object with `ok` in it. */
function envelopeIn(bytes: Buffer, status: number): Fields {
  try {
    const envelope = fields(JSON.parse(bytes.toString()))
    if (typeof envelope.ok === 'boolean') return envelope
  } catch {
    // Told below, without what it was: an error of the parser quotes what it read.
  }
  throw new Unanswered('garbage', `an answer with the status ${status} is not JSON of the bot API`)
}

async function bounded(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let left = ANSWER_BYTES
  try {
    for await (const chunk of body) {
      left -= (chunk as Buffer).length
      if (left < 0) throw new Unanswered('garbage', 'an answer is too long')
      chunks.push(chunk as Buffer)
    }
  } catch (cause) {
    throw cause instanceof Unanswered ? cause : unanswered(cause)
  }
  return Buffer.concat(chunks)
}

/** A server that keeps its files to itself gives a place on its own disk. */
function pathOf(path: string | undefined): string {
  const steps = path?.split('/') ?? []
  if (steps.length === 0 || steps.some((step) => /^\.{0,2}$/.test(step))) {
    throw wrongFile()
  }
  return steps.map(encodeURIComponent).join('/')
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
