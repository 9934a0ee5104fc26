/** The parameters of a bot call, in whatever encoding they come: query, urlencoded, JSON or multipart. */
import { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { failed } from '../../../actors/errors.ts'
import { Arguments } from '../../bot-api/arguments.ts'
import { formEntries, utf8 } from './form.ts'
import { jsonEntries } from './json.ts'
import { partsOf } from './multipart.ts'
import { encodingOf, wholeBody } from './payload.ts'

/** All parameters together; files are not counted (the reference's figure). */
const PARAMETER_BYTES = 1_048_576

type Entries = Iterable<readonly [string, string]>

const readers: readonly (readonly [type: RegExp, read: (body: Buffer) => Entries])[] = [
  [/^application\/json/i, (body) => jsonEntries(utf8(body))],
  [/^application\/x-www-form-urlencoded/i, (body) => formEntries(body.toString('latin1'))],
]

/** Replaces Fastify's parsers in this scope: what a body carries is text until a method reads it. */
export async function parseCalls(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(multipart, {
    limits: { fieldSize: PARAMETER_BYTES, fields: 1_000, files: 50, parts: 1_050, headerPairs: 64 },
  })
  // Bodies are read with the parameters: Fastify would leave those of GET, and the packed ones, as they are.
  app.addContentTypeParser('*', (_, __, done) => done(null))
}

/** `method` may stand among the parameters when the path names none. */
export async function argumentsOf(request: FastifyRequest): Promise<Arguments> {
  const at = request.raw.url?.indexOf('?') ?? -1
  const query = at < 0 ? [] : formEntries(request.raw.url?.slice(at + 1) ?? '')
  const entries = [...query, ...(await bodyOf(request))]
  for (const [name, value] of entries) {
    if (!value.isWellFormed() || value.includes('\u0000') || !name.isWellFormed()) {
      throw failed('bad_request', 'strings must be encoded in UTF-8')
    }
  }
  return new Arguments(entries)
}

async function bodyOf(request: FastifyRequest): Promise<Entries> {
  const encoding = encodingOf(request)
  const type = request.headers['content-type'] ?? ''
  if (/^multipart\/form-data/i.test(type)) {
    if (encoding === 'plain') return partsOf(request, request.raw, PARAMETER_BYTES)
    // Files count too in a packed body, since it is unpacked as a whole.
    const unpacked = Readable.from([await wholeBody(request, PARAMETER_BYTES)])
    return partsOf(request, unpacked, PARAMETER_BYTES)
  }
  const read = readers.find(([wanted]) => wanted.test(type))?.[1]
  if (read) return read(await wholeBody(request, PARAMETER_BYTES))
  // Anything else would be a file without a name in the reference; its parameters are in the query.
  request.raw.resume()
  return []
}
