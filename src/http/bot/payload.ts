/** The bytes of a call's body, unpacked when they come compressed, and never more than allowed. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { failed } from '../../../machines/model/failure.ts'

const multipartForm = /^multipart\/form-data/i

export const isMultipart = (headers: IncomingHttpHeaders): boolean =>
  multipartForm.test(headers['content-type'] ?? '')

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
  const received = await collect(request.raw, limit)
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

/** By events, since an iterator costs more than all of the rest. The connection lives on for the answer. */
function collect(source: Readable, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let bytes = 0
  const take = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= limit) return chunks.push(chunk)
    source.off('data', take).pause()
    reject(Object.assign(new Error('the parameters are too long'), { statusCode: 413 }))
  }
  const cutOff = () => reject(source.errored ?? new Error('the request ended before its body'))
  if (source.destroyed) cutOff()
  source.on('data', take)
  source.once('end', () => {
    // Every source closes in the end, and an error costs its stack.
    source.off('close', cutOff)
    resolve(Buffer.concat(chunks))
  })
  source.once('error', reject)
  source.once('close', cutOff)
  return promise
}
