/** The bytes of a call's body, unpacked when they come compressed, and never more than allowed. */
import { createGunzip, createInflate } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { failed } from '../../../actors/errors.ts'

type Encoding = 'plain' | 'gzip' | 'deflate'

const encodings: ReadonlyMap<string, Encoding> = new Map([
  ['', 'plain'],
  ['none', 'plain'],
  ['identity', 'plain'],
  ['gzip', 'gzip'],
  ['deflate', 'deflate'],
])

export function encodingOf({ headers }: FastifyRequest): Encoding {
  const encoding = encodings.get((headers['content-encoding'] ?? '').trim().toLowerCase())
  if (encoding) return encoding
  throw Object.assign(new Error('unknown content encoding'), { statusCode: 415 })
}

export async function wholeBody(request: FastifyRequest, limit: number): Promise<Buffer> {
  const encoding = encodingOf(request)
  // The connection has to live on for the answer.
  const received = request.raw.iterator({ destroyOnReturn: false })
  if (encoding === 'plain') return await collect(received, limit)
  const packed = await collect(received, limit)
  const unpacking = encoding === 'gzip' ? createGunzip() : createInflate()
  unpacking.end(packed)
  try {
    return await collect(unpacking, limit)
  } catch (cause) {
    if (cause instanceof Error && 'statusCode' in cause) throw cause
    const description = `can't parse the request body: it is not valid ${encoding}`
    throw failed('bad_request', description, {}, { cause })
  }
}

async function collect(source: AsyncIterable<Buffer>, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > limit) {
      throw Object.assign(new Error('the parameters are too long'), { statusCode: 413 })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
