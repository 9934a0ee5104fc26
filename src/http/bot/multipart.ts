/** Bot calls as `multipart/form-data`: what libraries send once a file is among the parameters. */
import type { FastifyRequest } from 'fastify'
import { failed } from '../../../actors/errors.ts'
import { formEntries } from './form.ts'

export async function partsOf(request: FastifyRequest, limit: number): Promise<[string, string][]> {
  try {
    return await read(request, limit)
  } catch (cause) {
    const isTooLarge = cause instanceof Error && 'statusCode' in cause && cause.statusCode === 413
    if (isTooLarge) throw cause
    const description = "can't parse the request body: it is not valid multipart"
    throw failed('bad_request', description, {}, { cause })
  }
}

async function read(request: FastifyRequest, limit: number): Promise<[string, string][]> {
  const entries: [string, string][] = []
  let bytes = 0
  for await (const part of request.parts()) {
    if (part.type === 'file') {
      part.file.resume()
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
