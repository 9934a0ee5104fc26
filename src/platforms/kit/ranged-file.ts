/** A file that was asked for by HTTP from an offset on: what the answer brings, whether the server knows ranges or not. */
import { Readable } from 'node:stream'
import type { FileStream } from '../../../actors/ports/platform.ts'
import { webStream } from '../../media/web-stream.ts'
import type { OpenResponse } from '../../net/fetch.ts'

/** The header that asks for the bytes from `offset` on. */
export const rangeFrom = (offset: number): Readonly<Record<string, string>> =>
  offset > 0 ? { range: `bytes=${offset}-` } : {}

interface KnownFile {
  readonly name?: string | undefined
}

/** Undefined when the answer is neither the file nor its end; the body is then let go of. */
export function fileIn(
  { status, headers, body }: OpenResponse,
  offset: number,
  { name }: KnownFile,
): FileStream | undefined {
  if (status !== 200 && status !== 206) {
    body.on('error', () => undefined).destroy()
    // Nothing begins at the end of a file.
    if (status !== 416 || offset === 0) return undefined
    return { stream: webStream(Readable.from([])) }
  }
  const isPart = status === 206
  const length = Number(headers['content-length'])
  const size = Number.isSafeInteger(length) ? length + (isPart ? offset : 0) : undefined
  const type = headers['content-type']
  return {
    // A server that does not know ranges sends everything: the bytes before the offset are skipped.
    stream: webStream(body, isPart ? 0 : offset),
    ...(size !== undefined && { size }),
    ...(typeof type === 'string' && { mime: type }),
    ...(name && { name }),
  }
}
