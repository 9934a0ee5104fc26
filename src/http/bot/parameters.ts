/** Reads the parameters of a bot call: query, urlencoded, JSON or multipart, compressed or not. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { createGunzip, createInflate } from 'node:zlib'
import multipart, { type FastifyMultipartOptions } from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { failed } from '../../../machines/model/failure.ts'
import { Arguments, formEntries, utf8 } from '../../bot-api/arguments.ts'
import { methods } from '../../bot-api/methods/index.ts'
import { isDeeperThan, memberCount, memberSpans, type Span } from '../../json/spans.ts'
import { Gathered } from '../../media/give-back.ts'
import {
  noUploads,
  partsOf,
  Receiving,
  releaseAll,
  type UploadPlace,
  type Uploads,
} from './multipart.ts'

/** `text` is an object in valid JSON. */
export function membersInOrder(text: string): [name: string, value: unknown][] {
  const value = ({ from, to }: Span) => JSON.parse(text.slice(from, to))
  return memberSpans(text).map((member) => [member.name, value(member)])
}

/** The reference's nesting limit. */
const DEPTH = 100

/** Bodies without parameters, from clients that always send JSON. */
const NO_PARAMETERS = ['null', '[]']

/** A string member is its text, anything else stays JSON; `null` is absent. */
export function* jsonEntries(body: string, isNeeded = true): IterableIterator<[string, string]> {
  // Some clients begin with a byte order mark, which counts as white space here.
  const trimmed = body.trim()
  // If the method has required parameters, `null` or `[]` instead of them is refused below.
  if (trimmed === '' || (!isNeeded && NO_PARAMETERS.includes(trimmed))) return
  const value = parse(trimmed)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw failed('bad_request', "can't parse the request body: a JSON object is expected")
  }
  // The first value of a name counts, as for all parameters; JSON.parse would keep the last one.
  const isRepeated = memberCount(trimmed) > Object.keys(value).length
  for (const [name, member] of isRepeated ? membersInOrder(trimmed) : Object.entries(value)) {
    if (typeof member === 'string') yield [name, member]
    else if (member !== null) yield [name, JSON.stringify(member)]
  }
}

function parse(body: string): unknown {
  if (isDeeperThan(body, DEPTH)) {
    throw failed('bad_request', "can't parse the request body: the JSON is nested too deeply")
  }
  try {
    return JSON.parse(body)
  } catch {
    throw failed('bad_request', "can't parse the request body: it is not valid JSON")
  }
}

const multipartForm = /^multipart\/form-data/i

export const isMultipart = (headers: IncomingHttpHeaders): boolean =>
  multipartForm.test(headers['content-type'] ?? '')

export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** The reference reads a body whose type it does not know as one file. */
const isFile = (headers: IncomingHttpHeaders): boolean =>
  hasBody(headers) && !isMultipart(headers) && !readerOf(headers)

/** Whether the body may have files, and so be long. */
export const mayHaveFiles = (headers: IncomingHttpHeaders): boolean =>
  isMultipart(headers) || isFile(headers)

const tooLong = () => Object.assign(new Error('the parameters are too long'), { statusCode: 413 })

type Encoding = 'plain' | 'gzip' | 'deflate'

const encodings: ReadonlyMap<string, Encoding> = new Map([
  ['', 'plain'],
  ['none', 'plain'],
  ['identity', 'plain'],
  ['gzip', 'gzip'],
  ['deflate', 'deflate'],
])

function encodingOf({ headers }: FastifyRequest): Encoding {
  const encoding = encodings.get((headers['content-encoding'] ?? '').trim().toLowerCase())
  if (encoding) return encoding
  throw Object.assign(new Error('unknown content encoding'), { statusCode: 415 })
}

export const isCompressed = (request: FastifyRequest): boolean => encodingOf(request) !== 'plain'

/** The bytes of a call's body, decompressed if necessary, and never more than allowed. */
export async function wholeBody(request: FastifyRequest, limit: number): Promise<Buffer> {
  const encoding = encodingOf(request)
  // Known from the head: a client that waits before it sends so much is answered at once.
  if (Number(request.headers['content-length']) > limit) throw tooLong()
  if (isHere(request)) await endOfTurn()
  const received = arrived(request.raw) ?? (await collect(request.raw, limit))
  if (encoding === 'plain') return received
  const unpacking = encoding === 'gzip' ? createGunzip() : createInflate()
  unpacking.end(received)
  try {
    return await collect(unpacking, limit)
  } catch (cause) {
    if (cause instanceof Error && 'statusCode' in cause) throw cause
    const description = `can't parse the request body: it is not valid ${encoding}`
    throw failed('bad_request', description, {}, { cause })
  } finally {
    unpacking.destroy()
  }
}

/** Whether all of a body has come and only its end is not told yet, which happens in the same turn of the event loop. */
const isHere = ({ raw: { complete, readableLength: bytes }, headers }: FastifyRequest): boolean =>
  !complete && bytes > 0 && bytes === Number(headers['content-length'])

/**
 * A body that is shorter than what a stream holds has come with its head, and is taken at once: a stream that flows tells
 * by events what is here already. Undefined for any other body.
 */
function arrived(source: IncomingMessage): Buffer | undefined {
  if (!source.complete || source.destroyed) return undefined
  return (source.read() as Buffer | null) ?? undefined
}

/** Reads by events, because an iterator costs more than all other work here. The connection stays open for the answer. */
function collect(source: Readable, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  let first: Buffer | undefined
  // Mostly there is one chunk.
  let others: Gathered | undefined
  let bytes = 0
  const take = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= limit) {
      if (first) {
        others ??= new Gathered()
        others.add(chunk)
      }
      first ??= chunk
      return
    }
    source.off('data', take).pause()
    reject(tooLong())
  }
  const cutOff = () => reject(source.errored ?? new Error('the request ended before its body'))
  if (source.destroyed) cutOff()
  source.on('data', take)
  source.once('end', () => {
    // Every stream closes after its end: without this line an error would be created each time, which is slow.
    source.off('close', cutOff)
    resolve(Buffer.concat([...(first ? [first] : []), ...(others?.pieces ?? [])]))
  })
  source.once('error', reject)
  source.once('close', cutOff)
  return promise
}

/** The reference's name for the part that a body is as a whole. */
const FILE = 'file'

/** All parameters together; files are not counted (the reference's figure). */
export const PARAMETER_BYTES = 1_048_576

const limits = {
  fieldSize: PARAMETER_BYTES,
  fileSize: Number.POSITIVE_INFINITY,
  fields: 1_000,
  files: 50,
  parts: 1_050,
  headerPairs: 64,
  // Bytes of the head of one part; the rest of a longer head is ignored.
  headerSize: 16_384,
}

const usualTypes = ['application/json', 'application/x-www-form-urlencoded']

type Entries = Iterable<readonly [string, string]>

type Reader = (body: Buffer, isNeeded: boolean) => Entries

const readers: readonly (readonly [type: RegExp, read: Reader])[] = [
  [/^application\/json/i, (body, isNeeded) => jsonEntries(utf8(body), isNeeded)],
  [/^application\/x-www-form-urlencoded/i, (body) => formEntries(body.toString('latin1'))],
]

const readerOf = ({ 'content-type': type = '' }: IncomingHttpHeaders): Reader | undefined =>
  readers.find(([wanted]) => wanted.test(type))?.[1]

export type CallRequest = FastifyRequest<{ Params: { token: string; '*': string } }>

/** Replaces Fastify's parsers in this scope: parameters stay text until a method reads them. */
export async function parseCalls(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  registerWithoutHooks(app, {
    // The reference's rule: only a part with a file name is a file. The parser would also take parts of bytes.
    isPartAFile: (_field, _type, filename) => filename !== undefined,
    // More than one piece of a socket: the parser would pause the request for each of them.
    highWaterMark: 262_144,
    limits,
  })
  // Bodies are read with the parameters, because Fastify reads neither bodies of GET nor compressed ones.
  // The usual types are named as well, because Fastify finds a named type faster.
  app.addContentTypeParser([...usualTypes, '*'], (_, __, done) => done(null))
}

/**
 * The hooks of the plugin clean up after files that it has stored itself, which nobody asks of it: each call would pay for
 * them, and each poll that is held.
 */
function registerWithoutHooks(app: FastifyInstance, options: FastifyMultipartOptions): void {
  const addHook = (name: string) => {
    const isOfFiles = name === 'onRequest' || name === 'onResponse'
    if (!isOfFiles) throw new Error(`the parser of forms has a new hook: ${name}`)
    return hookless
  }
  const hookless: FastifyInstance = Object.assign(Object.create(app), { addHook })
  multipart(hookless, options, (error) => {
    if (error) throw error
  })
}

interface Parameters {
  readonly args: Arguments
  /** The caller releases it after the answer. */
  readonly uploads: Uploads
}

interface Reading {
  /** Aborts when the client closes the connection. It is called only for calls with files. */
  signal(): AbortSignal
  /** Gets the length of all parameters before any of them is parsed, and the bytes of all files. */
  count(length: number, fileBytes: number): void
}

export async function parametersOf(
  request: CallRequest,
  place: UploadPlace,
  { signal, count }: Reading,
): Promise<Parameters> {
  if (!mayHaveFiles(request.headers)) {
    const args = argumentsFrom(request, await bodyOf(request))
    count(args.length, 0)
    return { args, uploads: noUploads }
  }
  const receiving = new Receiving(place, signal())
  try {
    const parts = await partsOfBody(request, receiving)
    const args = argumentsFrom(request, parts)
    count(args.length, receiving.bytes)
    return { args, uploads: receiving.uploads }
  } catch (error) {
    await releaseAll(receiving.uploads)
    throw error
  }
}

/** The query of a request as it was sent, with its question mark; empty if there is none. */
export function queryOf({ raw: { url = '' } }: FastifyRequest): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at)
}

/** The method is the parameter `method` if the path names none. */
function argumentsFrom(request: FastifyRequest, body: Entries): Arguments {
  const entries = [...formEntries(queryOf(request).slice(1)), ...body]
  for (const [name, value] of entries) {
    if (!value.isWellFormed() || value.includes('\u0000') || !name.isWellFormed()) {
      throw failed('bad_request', 'strings must be encoded in UTF-8')
    }
  }
  return new Arguments(entries)
}

async function bodyOf(request: CallRequest): Promise<Entries> {
  encodingOf(request)
  const read = readerOf(request.headers)
  return read?.(await wholeBody(request, PARAMETER_BYTES), needsParameters(request)) ?? []
}

/** False for unknown methods, which are refused as such and not for their parameters. */
function needsParameters({ params }: CallRequest): boolean {
  const method = methods.get(params['*'].toLowerCase())
  return method !== undefined && method.required.length > 0
}

async function partsOfBody(request: FastifyRequest, receiving: Receiving): Promise<Entries> {
  // In a compressed body files count too, because it is decompressed as a whole.
  const unpacked =
    encodingOf(request) !== 'plain' && Readable.from([await wholeBody(request, PARAMETER_BYTES)])
  if (!isFile(request.headers)) {
    return partsOf(request, unpacked || request.raw, PARAMETER_BYTES, receiving)
  }
  const mime = request.headers['content-type']
  // The connection stays open for the answer.
  const file = unpacked || Readable.from(request.raw.iterator({ destroyOnReturn: false }))
  await receiving.take(FILE, file, { ...(mime && { mime }) })
  return []
}
