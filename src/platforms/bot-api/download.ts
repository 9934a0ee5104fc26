/** The bytes of a downloaded file, from where they are wanted. */
import type { Readable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import type { FileStream } from '../../../actors/platform.ts'
import type { OpenResponse } from '../../net/fetch.ts'

/** A server that does not know ranges sends everything: then what comes before is passed over. */
export function fileAt(
  { status, headers, body }: OpenResponse,
  offset: number,
  told: number | undefined,
): FileStream {
  const length = Number(headers['content-length'])
  const whole = Number.isSafeInteger(length) ? length + (status === 206 ? offset : 0) : undefined
  const size = told ?? whole
  const type = headers['content-type']
  // It may break off while nobody reads; whoever reads next is told.
  body.on('error', () => undefined)
  return {
    // Not by `Readable.toWeb`: a response that goes on after its reader has left would throw there (Node 24.21).
    stream: streamOf(from(status === 206 ? 0 : offset, body)),
    ...(size !== undefined && { size }),
    // Servers of this API give every file this type: it says nothing.
    ...(typeof type === 'string' && type !== 'application/octet-stream' && { mime: type }),
  }
}

/** What is behind the end of a file. */
export const nothing = (size: number | undefined): FileStream => ({
  stream: streamOf([]),
  ...(size !== undefined && { size }),
})

const streamOf = (chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) =>
  ReadableStream.from(chunks) as FileStream['stream']

async function* from(offset: number, body: Readable) {
  let left = offset
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const rest = chunk.subarray(Math.min(left, chunk.length))
    left -= chunk.length - rest.length
    if (rest.length > 0) yield rest
  }
}
