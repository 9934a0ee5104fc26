/** The parameters of a bot call, in whatever encoding they come: query, urlencoded, JSON or multipart. */
import { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { failed } from '../../../machines/model/failure.ts'
import { Arguments } from '../../bot-api/arguments.ts'
import { methods } from '../../bot-api/methods/index.ts'
import { formEntries, utf8 } from './form.ts'
import { jsonEntries } from './json.ts'
import { partsOf } from './multipart.ts'
import { encodingOf, isMultipart, wholeBody } from './payload.ts'
import { noUploads, Receiving, releaseAll, type UploadPlace, type Uploads } from './uploads.ts'

/** All parameters together; files are not counted (the reference's figure). */
const PARAMETER_BYTES = 1_048_576

const limits = {
  fieldSize: PARAMETER_BYTES,
  fileSize: Number.POSITIVE_INFINITY,
  fields: 1_000,
  files: 50,
  parts: 1_050,
  headerPairs: 64,
  // The head of one part; what is more of it is passed over.
  headerSize: 16_384,
}

const usual = ['application/json', 'application/x-www-form-urlencoded']

type Entries = Iterable<readonly [string, string]>

type Reader = (body: Buffer, isNeeded: boolean) => Entries

const readers: readonly (readonly [type: RegExp, read: Reader])[] = [
  [/^application\/json/i, (body, isNeeded) => jsonEntries(utf8(body), isNeeded)],
  [/^application\/x-www-form-urlencoded/i, (body) => formEntries(body.toString('latin1'))],
]

export type CallRequest = FastifyRequest<{ Params: { token: string; '*': string } }>

/** Replaces Fastify's parsers in this scope: what a body carries is text until a method reads it. */
export async function parseCalls(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(multipart, {
    // By the reference's rule; the parser would also take for a file what says that it is just bytes.
    isPartAFile: (_field, _type, filename) => filename !== undefined,
    limits,
  })
  // Bodies are read with the parameters: Fastify would leave those of GET, and the packed ones, as they are.
  // The usual types are named as well, since Fastify looks a named one up faster than it parses another.
  app.addContentTypeParser([...usual, '*'], (_, __, done) => done(null))
}

export interface Parameters {
  readonly args: Arguments
  /** To be released once the call is answered. */
  readonly uploads: Uploads
}

export interface Reading {
  /** Aborts when the client goes away; it is asked for only when files come along. */
  signal(): AbortSignal
  /** Told the length of all parameters before any of them is looked into; may refuse them. */
  count(length: number): void
}

export async function parametersOf(
  request: CallRequest,
  place: UploadPlace,
  { signal, count }: Reading,
): Promise<Parameters> {
  if (!isMultipart(request.headers)) {
    const args = argumentsFrom(request, await bodyOf(request))
    count(args.length)
    return { args, uploads: noUploads }
  }
  const receiving = new Receiving(place, signal())
  try {
    const parts = await partsOfBody(request, receiving)
    const args = argumentsFrom(request, parts)
    count(args.length)
    return { args, uploads: receiving.uploads }
  } catch (error) {
    await releaseAll(receiving.uploads)
    throw error
  }
}

/** `method` may stand among the parameters when the path names none. */
function argumentsFrom(request: FastifyRequest, body: Entries): Arguments {
  const at = request.raw.url?.indexOf('?') ?? -1
  const query = at < 0 ? [] : formEntries(request.raw.url?.slice(at + 1) ?? '')
  const entries = [...query, ...body]
  for (const [name, value] of entries) {
    if (!value.isWellFormed() || value.includes('\u0000') || !name.isWellFormed()) {
      throw failed('bad_request', 'strings must be encoded in UTF-8')
    }
  }
  return new Arguments(entries)
}

async function bodyOf(request: CallRequest): Promise<Entries> {
  encodingOf(request)
  const type = request.headers['content-type'] ?? ''
  const read = readers.find(([wanted]) => wanted.test(type))?.[1]
  if (read) return read(await wholeBody(request, PARAMETER_BYTES), needsParameters(request))
  // Anything else would be a file without a name in the reference; its parameters are in the query.
  request.raw.resume()
  return []
}

/** An unknown method counts as one that does: nothing is known of what it can do without. */
function needsParameters({ params }: CallRequest): boolean {
  return methods.get(params['*'].toLowerCase())?.required.length !== 0
}

async function partsOfBody(request: FastifyRequest, receiving: Receiving): Promise<Entries> {
  if (encodingOf(request) === 'plain') {
    return partsOf(request, request.raw, PARAMETER_BYTES, receiving)
  }
  // Files count too in a packed body, since it is unpacked as a whole.
  const unpacked = Readable.from([await wholeBody(request, PARAMETER_BYTES)])
  return partsOf(request, unpacked, PARAMETER_BYTES, receiving)
}
