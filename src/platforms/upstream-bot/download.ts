/** The bytes of a downloaded file, from where they are wanted. */
import { Readable } from 'node:stream'
import type { FileStream } from '../../../actors/ports/platform.ts'
import { webStream } from '../../media/web-stream.ts'
import type { OpenResponse } from '../../net/fetch.ts'

/** A server that does not know ranges sends everything: then what comes before is passed over. */
export function fileAt(
  { status, headers, body }: OpenResponse,
  offset: number,
  { size: told, name }: { readonly size: number | undefined; readonly name: string | undefined },
): FileStream {
  const length = Number(headers['content-length'])
  const whole = Number.isSafeInteger(length) ? length + (status === 206 ? offset : 0) : undefined
  const size = told ?? whole
  const type = headers['content-type']
  return {
    stream: webStream(body, status === 206 ? 0 : offset),
    ...(size !== undefined && { size }),
    // Servers of this API give every file this type: it says nothing.
    ...(typeof type === 'string' && type !== 'application/octet-stream' && { mime: type }),
    ...(name && { name }),
  }
}

/** What is behind the end of a file. */
export const nothing = (size: number | undefined): FileStream => ({
  stream: webStream(Readable.from([])),
  ...(size !== undefined && { size }),
})
