/** What a call counts for among the calls of its key: parameters are parsed on the one thread that serves everybody. */
import type { IncomingHttpHeaders } from 'node:http'
import { isMultipart } from './payload.ts'

const BYTES_PER_UNIT = 10_000
/** Files go past that thread to the disk. */
const FILE_BYTES_PER_UNIT = 1_000_000

/** Before anything of the body is read. What cannot be told yet is counted afterwards. */
export function unitsAhead(headers: IncomingHttpHeaders): number {
  const bytes = Number(headers['content-length'] ?? 0)
  return 1 + Math.floor(bytes / (isMultipart(headers) ? FILE_BYTES_PER_UNIT : BYTES_PER_UNIT))
}

/** `length` is that of all parameters. */
export function unitsAfter(headers: IncomingHttpHeaders, length: number): number {
  const isTold = headers['content-length'] !== undefined && !isMultipart(headers)
  const isPacked = headers['content-encoding'] !== undefined
  return isTold && !isPacked ? 0 : Math.floor(length / BYTES_PER_UNIT)
}
