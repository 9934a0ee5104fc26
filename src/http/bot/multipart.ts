/** Bot calls as `multipart/form-data`: what libraries send once a file is among the parameters. */
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import { lend } from '../../media/give-back.ts'
import { BareNames, nameBehind } from './bare-names.ts'
import { formEntries } from './form.ts'
import type { Receiving } from './uploads.ts'

export async function partsOf(
  request: FastifyRequest,
  source: Readable,
  limit: number,
  receiving: Receiving,
): Promise<[string, string][]> {
  try {
    const names = new BareNames(request.headers['content-type'] ?? '')
    source.on('data', (chunk: Buffer) => names.guard(chunk))
    // The parser reads each chunk once, in order, and keeps none: whoever has its file's bytes may free them.
    if (source === request.raw) source.on('data', lend)
    return await read(withBody(request, source), limit, receiving)
  } catch (cause) {
    const isTooLarge = cause instanceof Error && 'statusCode' in cause && cause.statusCode === 413
    if (isTooLarge || cause instanceof RequestFailed) throw cause
    const description = "can't parse the request body: it is not valid multipart"
    throw failed('bad_request', description, {}, { cause })
  }
}

/** The parser takes what `raw` streams, and only of a request that Fastify has handed to it. */
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
      const name = nameBehind(filename)
      await receiving.take(fieldname, file, { ...(name && { name }), ...(mime && { mime }) })
      continue
    }
    // The parser reads parts that call themselves JSON; a parameter is text until a method reads it.
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
