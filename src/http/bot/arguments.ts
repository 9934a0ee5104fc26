/** The parameters of a bot call, in whatever encoding they come: query, urlencoded, JSON or multipart. */
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { failed } from '../../../actors/errors.ts'
import { Arguments } from '../../bot-api/arguments.ts'
import { formEntries, utf8 } from './form.ts'
import { jsonEntries } from './json.ts'
import { partsOf } from './multipart.ts'

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
  for (const [type, read] of readers) {
    const options = { parseAs: 'buffer' as const, bodyLimit: PARAMETER_BYTES }
    app.addContentTypeParser(type, options, async (_: FastifyRequest, body: Buffer) => [
      ...read(body),
    ])
  }
  // Anything else would be a file without a name in the reference; its parameters are in the query.
  app.addContentTypeParser('*', (_, payload, done) => {
    payload
      .on('error', done)
      .on('end', () => done(null, []))
      .resume()
  })
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
  if (request.isMultipart()) return partsOf(request, PARAMETER_BYTES)
  if (request.method !== 'GET') return (request.body ?? []) as Entries
  // Fastify leaves the body of a GET where it is; the reference reads it as it does that of a POST.
  const type = request.headers['content-type'] ?? ''
  const read = readers.find(([wanted]) => wanted.test(type))?.[1]
  return read ? read(await whole(request)) : []
}

async function whole({ raw }: FastifyRequest): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  // The connection has to live on for the answer.
  for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > PARAMETER_BYTES) {
      throw Object.assign(new Error('the parameters are too long'), { statusCode: 413 })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
