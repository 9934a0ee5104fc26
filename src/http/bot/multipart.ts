/** Bot calls as `multipart/form-data`, and the files that come with them, kept in temporary places. */
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import { formEntries } from '../../bot-api/arguments.ts'
import { lend } from '../../media/give-back.ts'
import type { Upload } from '../../media/media.ts'
import { TooLarge } from '../../media/spool.ts'

const [TAB, LINE_FEED, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20]
const [QUOTE, SEMICOLON, EQUALS] = [0x22, 0x3b, 0x3d]
/** Characters that the parser would misread in a file name without quotes, and their stand-ins while it reads. */
const STAND_INS: ReadonlyMap<number, number> = new Map([
  [SPACE, 1],
  [TAB, 2],
  [QUOTE, 3],
])
const DISPOSITION = /^content-disposition:/i
const BEFORE_NAME = /;\s*filename=$/i
/** Only this much of the line before each equals sign is searched, so that thousands of them stay cheap. */
const BEFORE_NAME_LENGTH = 32
/** No client writes a file name after so many characters of a line. The parser handles such a name. */
const LINE_LENGTH = 1_024

/** The name as the client wrote it. */
export function originalName(name: string): string {
  let meant = name
  for (const [byte, standIn] of STAND_INS) {
    meant = meant.replaceAll(String.fromCharCode(standIn), String.fromCharCode(byte))
  }
  return meant.trim()
}

/**
 * File names without quotes: replaces, in place and before the parser sees them, the bytes of such a name that the parser
 * would misread.
 */
export class UnquotedNames {
  readonly #delimiter: Buffer
  /** The end of the chunk before: a delimiter may begin in it. */
  #tail = Buffer.from('\r\n')
  #place: 'content' | 'delimiter' | 'headers' | 'value' | 'name' = 'content'
  #line = ''

  constructor(contentType: string) {
    const [, quoted, bare = ''] = /boundary=(?:"([^"]+)"|([^;]+))/i.exec(contentType) ?? []
    this.#delimiter = Buffer.from(`\r\n--${quoted ?? bare.trim()}`, 'latin1')
  }

  guard(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#place === 'content') at = this.#seek(chunk, at)
      else this.#read(chunk, at++)
    }
  }

  /** The index after the next delimiter, or after the chunk. */
  #seek(chunk: Buffer, from: number): number {
    const { length } = this.#delimiter
    const edge = Buffer.concat([this.#tail, chunk.subarray(from, from + length - 1)])
    const across = edge.indexOf(this.#delimiter)
    const within = across < 0 ? chunk.indexOf(this.#delimiter, from) : -1
    if (across < 0 && within < 0) {
      const last = chunk.subarray(Math.max(from, chunk.length - length + 1))
      this.#tail = Buffer.concat([this.#tail, last]).subarray(1 - length)
      return chunk.length
    }
    this.#place = 'delimiter'
    return across < 0 ? within + length : from + across + length - this.#tail.length
  }

  #read(chunk: Buffer, at: number): void {
    const byte = chunk[at]!
    const isSpace = byte === SPACE || byte === TAB
    // The first byte of a value shows whether the value has no quotes.
    if (this.#place === 'value' && !isSpace) this.#place = byte === QUOTE ? 'headers' : 'name'
    if (byte === LINE_FEED) this.#endLine()
    else if (byte === SEMICOLON && this.#place === 'name') this.#place = 'headers'
    else if (this.#place === 'name') chunk[at] = STAND_INS.get(byte) ?? byte
    else if (byte !== RETURN) this.#note(byte)
  }

  #note(byte: number): void {
    if (this.#line.length === LINE_LENGTH) return
    this.#line += String.fromCharCode(byte)
    const mayBegin = this.#place === 'headers' && byte === EQUALS
    if (mayBegin && isBeforeName(this.#line)) this.#place = 'value'
  }

  /** An empty line ends the headers. The end of the delimiter's own line is not such a line. */
  #endLine(): void {
    const isOver = this.#place === 'headers' && this.#line === ''
    this.#place = isOver ? 'content' : 'headers'
    this.#tail = Buffer.from('\r\n')
    this.#line = ''
  }
}

const isBeforeName = (line: string): boolean =>
  BEFORE_NAME.test(line.slice(-BEFORE_NAME_LENGTH)) && DISPOSITION.test(line)

export interface UploadPlace {
  readonly media: {
    spool(
      stream: Readable,
      about: { readonly limit: number; readonly name?: string; readonly mime?: string },
      signal: AbortSignal,
    ): Promise<Upload>
  }
  /** Bytes of one file. */
  readonly uploadBytes: number
}

export type Uploads = ReadonlyMap<string, Upload>

/** The uploads of a call without files, as most calls are. */
export const noUploads: Uploads = new Map()

/** Files of the largest size that one call may bring: as many as an album has. */
const ALBUM = 10

/** Takes the file parts of one call. */
export class Receiving {
  readonly uploads = new Map<string, Upload>()
  readonly #place: UploadPlace
  readonly #signal: AbortSignal
  #left: number
  /** Why a file was not kept though its bytes came. */
  fault: unknown

  constructor(place: UploadPlace, signal: AbortSignal) {
    this.#place = place
    this.#signal = signal
    this.#left = ALBUM * place.uploadBytes
  }

  /** Bytes of all files so far. */
  get bytes(): number {
    return ALBUM * this.#place.uploadBytes - this.#left
  }

  /** The first part of a name counts, as with other parameters. */
  async take(part: string, file: Readable, about: { name?: string; mime?: string }): Promise<void> {
    if (this.uploads.has(part)) return void file.resume()
    if (this.#left <= 0) throw new TooLarge()
    const limit = Math.min(this.#left, this.#place.uploadBytes)
    const spooling = this.#place.media.spool(file, { limit, ...about }, this.#signal)
    const upload = await spooling.catch((cause: unknown) => {
      if (!file.errored) this.fault = cause
      throw cause
    })
    this.#left -= upload.size
    this.uploads.set(part, upload)
  }
}

export async function releaseAll(uploads: Uploads): Promise<void> {
  await Promise.all([...uploads.values()].map((upload) => upload.release()))
}

export async function partsOf(
  request: FastifyRequest,
  source: Readable,
  limit: number,
  receiving: Receiving,
): Promise<[string, string][]> {
  try {
    const names = new UnquotedNames(request.headers['content-type'] ?? '')
    source.on('data', (chunk: Buffer) => names.guard(chunk))
    // The parser reads each chunk once, in order, and keeps none. The reader of a file may free its bytes.
    if (source === request.raw) source.on('data', lend)
    return await read(withBody(request, source), limit, receiving)
  } catch (cause) {
    const isTooLarge = cause instanceof Error && 'statusCode' in cause && cause.statusCode === 413
    if (isTooLarge || cause instanceof RequestFailed || cause === receiving.fault) throw cause
    const description = "can't parse the request body: it is not valid multipart"
    throw failed('bad_request', description, {}, { cause })
  }
}

/** A request whose `raw` is another stream, because the parser reads `raw` and accepts Fastify's requests only. */
function withBody(request: FastifyRequest, source: Readable): FastifyRequest {
  const raw = source === request.raw ? source : Object.assign(source, { headers: request.headers })
  return Object.create(request, { raw: { value: raw }, isMultipart: { value: () => true } })
}

async function read(
  request: FastifyRequest,
  limit: number,
  receiving: Receiving,
): Promise<[string, string][]> {
  const entries: [string, string][] = []
  let bytes = 0
  for await (const part of request.parts()) {
    if (part.type === 'file') {
      const { fieldname, file, filename, mimetype: mime } = part
      const name = originalName(filename)
      await receiving.take(fieldname, file, { ...(name && { name }), ...(mime && { mime }) })
      continue
    }
    // The parser would parse parts of the type JSON; a parameter stays text until a method reads it.
    const value = typeof part.value === 'string' ? part.value : JSON.stringify(part.value)
    bytes += Buffer.byteLength(part.fieldname) + Buffer.byteLength(value)
    if (bytes > limit || part.valueTruncated) {
      throw Object.assign(new Error('the parameters are too long'), { statusCode: 413 })
    }
    const isForm = part.mimetype.toLowerCase().startsWith('application/x-www-form-urlencoded')
    if (isForm) entries.push(...formEntries(Buffer.from(value).toString('latin1')))
    else entries.push([part.fieldname, value])
  }
  return entries
}
