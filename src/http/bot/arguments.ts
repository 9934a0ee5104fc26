/** The parameters of a bot call, in whatever encoding they come: query, urlencoded, JSON or multipart. */
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { failed } from '../../../actors/errors.ts'
import { Arguments } from '../../bot-api/arguments.ts'
import { jsonEntries } from './json.ts'

/** All parameters together; files are not counted (the reference's figure). */
const PARAMETER_BYTES = 1_048_576

type Entries = Iterable<readonly [string, string]>

/** Replaces Fastify's parsers in this scope: what a body carries is text until a method reads it. */
export async function parseCalls(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(multipart, {
    limits: { fieldSize: PARAMETER_BYTES, fields: 1_000, files: 50, parts: 1_050, headerPairs: 64 },
  })
  const options = { parseAs: 'string' as const, bodyLimit: PARAMETER_BYTES }
  app.addContentTypeParser(/^application\/json/i, options, (_, body: string, done) => {
    settle(done, () => [...jsonEntries(body)])
  })
  app.addContentTypeParser(
    /^application\/x-www-form-urlencoded/i,
    options,
    (_, body: string, done) => {
      settle(done, () => [...new URLSearchParams(body)])
    },
  )
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
  const query = at < 0 ? [] : new URLSearchParams(request.raw.url?.slice(at + 1))
  const body = request.isMultipart() ? await partsOf(request) : ((request.body ?? []) as Entries)
  const entries = [...query, ...body]
  for (const [name, value] of entries) {
    if (!value.isWellFormed() || value.includes('\u0000') || !name.isWellFormed()) {
      throw failed('bad_request', 'strings must be encoded in UTF-8')
    }
  }
  return new Arguments(entries)
}

async function partsOf(request: FastifyRequest): Promise<[string, string][]> {
  const entries: [string, string][] = []
  let bytes = 0
  for await (const part of request.parts()) {
    if (part.type === 'file') part.file.resume()
    else {
      const value = `${part.value}`
      bytes += part.fieldname.length + value.length
      if (bytes > PARAMETER_BYTES || part.valueTruncated) {
        throw Object.assign(new Error('the parameters are too long'), { statusCode: 413 })
      }
      const isForm = part.mimetype.toLowerCase().startsWith('application/x-www-form-urlencoded')
      if (isForm) entries.push(...new URLSearchParams(value))
      else entries.push([part.fieldname, value])
    }
  }
  return entries
}

function settle(done: (error: Error | null, entries?: Entries) => void, read: () => Entries): void {
  try {
    done(null, read())
  } catch (error) {
    done(error as Error)
  }
}
