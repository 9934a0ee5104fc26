/** Takes a call that is passed on: short bodies as a whole, files piece by piece while they go out again. */
import type { IncomingMessage } from 'node:http'
import { failed } from '../../../machines/model/failure.ts'
import type { Passing } from '../../../machines/model/operation-passing.ts'
import { Arguments, formEntries } from '../../bot-api/arguments.ts'
import { TooLarge } from '../../media/spool.ts'
import { MultipartFields } from './multipart-fields.ts'
import {
  type CallRequest,
  hasBody,
  isCompressed,
  isMultipart,
  jsonEntries,
  mayHaveFiles,
  PARAMETER_BYTES,
  queryOf,
  wholeBody,
} from './parameters.ts'

/** The reference's figure for an album. */
const FILES = 10
/** Parameters are read only from this many bytes at the beginning of a body. */
const BEGINNING_BYTES = 65_536

/** A call in the words of its client. */
interface SentCall extends Pick<Passing, 'verb' | 'query' | 'body'> {
  parameter(name: string): string | undefined
  /** All parameters; absent where a body with files is not read here. */
  readonly args?: () => Arguments
  /** Rejects when the body is too long or ends early. Absent if the whole body was read. */
  readonly broken?: Promise<never>
  /** Bytes received so far. */
  bytes(): number
}

const nothing = Buffer.alloc(0)

/** Reads a body that has no files to its end, else its beginning. `count` gets the bytes so far. */
export async function sentCall(
  request: CallRequest,
  uploadBytes: number,
  count: (bytes: number) => void,
): Promise<SentCall> {
  const { raw, headers } = request
  const query = queryOf(request)
  const inQuery = () => formEntries(query.slice(1))
  const type = headers['content-type'] ?? ''
  if (mayHaveFiles(headers) && !isCompressed(request)) {
    const form = isMultipart(headers)
      ? new MultipartFields(type, {
          parameterBytes: PARAMETER_BYTES,
          fileBytes: uploadBytes,
          totalBytes: FILES * uploadBytes + PARAMETER_BYTES,
        })
      : new OneFile(uploadBytes)
    const take = (piece: Buffer) => {
      form.take(piece)
      count(form.bytes)
    }
    return { verb: 'POST', query, ...(await streamed(raw, { type, form, take, inQuery })) }
  }
  const bytes = hasBody(headers) ? await wholeBody(request, PARAMETER_BYTES) : nothing
  count(bytes.length)
  const isEmpty = bytes.length === 0
  let known: Arguments | undefined
  const args = () => {
    known ??= new Arguments([...inQuery(), ...entriesOf(type, bytes)])
    return known
  }
  return {
    verb: request.method === 'GET' && isEmpty ? 'GET' : 'POST',
    query,
    ...(!isEmpty && { body: { type, length: bytes.length, bytes } }),
    bytes: () => bytes.length,
    args,
    parameter: (name) => args().text(name),
  }
}

/** The network refuses a malformed body itself. */
function entriesOf(type: string, bytes: Buffer): Iterable<readonly [string, string]> {
  try {
    if (/json/i.test(type)) return [...jsonEntries(bytes.toString())]
    return /urlencoded/i.test(type) ? [...formEntries(bytes.toString('latin1'))] : []
  } catch {
    return []
  }
}

/** A body that is a file as a whole. */
class OneFile {
  readonly fields = new Map<string, string>()
  readonly hasFile = true
  bytes = 0
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  take(piece: Buffer): void {
    this.bytes += piece.length
    if (this.bytes > this.#limit) throw new TooLarge()
  }
}

interface Streaming {
  readonly type: string
  readonly form: Pick<MultipartFields, 'fields' | 'hasFile' | 'bytes'>
  /** Called with each piece in turn. Throws where the body may not go on. */
  take(piece: Buffer): void
  inQuery(): Iterable<readonly [string, string]>
}

async function streamed(raw: IncomingMessage, { type, form, take, inQuery }: Streaming) {
  // The connection stays open for the answer, also if the body fails.
  const pieces = raw.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  const first: Buffer[] = []
  while (!form.hasFile && !form.fields.has('chat_id') && form.bytes < BEGINNING_BYTES) {
    const { done, value } = await pieces.next()
    if (done) break
    take(value)
    first.push(value)
  }
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => undefined)
  async function* bytes() {
    yield* first
    try {
      for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
        take(piece.value)
        yield piece.value
      }
    } catch (cause) {
      broken.reject(cause)
      throw cause
    }
  }
  const length = Number(raw.headers['content-length'])
  return {
    body: {
      type: type || 'application/octet-stream',
      bytes: bytes(),
      ...(Number.isSafeInteger(length) && { length }),
    },
    broken: broken.promise,
    bytes: () => form.bytes,
    parameter: (name: string) => new Arguments([...inQuery(), ...form.fields]).text(name),
  }
}

/** A call whose path names no method is read as a whole: the method is one of its parameters, and it has no files. */
export function callOfArguments(args: Arguments, hasFiles: boolean): SentCall {
  if (hasFiles) throw failed('not_found', 'method not found')
  const form = new URLSearchParams()
  for (const name of args.names()) form.set(name, args.text(name) ?? '')
  const bytes = Buffer.from(form.toString())
  const type = 'application/x-www-form-urlencoded'
  return {
    verb: 'POST',
    query: '',
    body: { type, length: bytes.length, bytes },
    bytes: () => 0,
    parameter: (name) => args.text(name),
  }
}
