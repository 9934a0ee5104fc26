/** The bytes of a shared file from an offset on, whether the server knows ranges or not. */

import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { FileStream } from '../../../../actors/ports/platform.ts'
import { failed } from '../../../../machines/model/failure.ts'
import { webStream } from '../../../media/web-stream.ts'
import { type OpenResponse, openUrl } from '../../../net/fetch.ts'
import { wrongFile } from '../../kit/failures.ts'
import { isLink, nameInLink } from './shared.ts'

const DOWNLOAD_MS = 10 * 60_000
const MOST_REDIRECTS = 3

export async function download(
  agent: Dispatcher,
  link: string,
  offset: number,
  signal: AbortSignal,
): Promise<FileStream> {
  if (!isLink(link)) throw wrongFile()
  const answer = await open(agent, link, offset, signal)
  const file = fileIn(answer, offset, { name: nameInLink(link) })
  if (!file) throw unavailable()
  return file
}

async function open(agent: Dispatcher, link: string, offset: number, signal: AbortSignal) {
  const headers = rangeFrom(offset)
  try {
    return await openUrl(link, {
      agent,
      signal,
      redirects: MOST_REDIRECTS,
      headers,
      totalMs: DOWNLOAD_MS,
    })
  } catch (cause) {
    signal.throwIfAborted()
    throw unavailable(cause)
  }
}

function unavailable(cause?: unknown) {
  const description = 'wrong file_id or the file is temporarily unavailable'
  return failed('bad_request', description, {}, { cause })
}

/** The header that asks for the bytes from `offset` on. */
const rangeFrom = (offset: number): Readonly<Record<string, string>> =>
  offset > 0 ? { range: `bytes=${offset}-` } : {}

interface KnownFile {
  readonly name?: string | undefined
}

/** Undefined if the answer is neither the file nor its end; the body is then discarded. */
export function fileIn(
  { status, headers, body }: OpenResponse,
  offset: number,
  { name }: KnownFile,
): FileStream | undefined {
  if (status !== 200 && status !== 206) {
    body.on('error', () => undefined).destroy()
    // A server answers 416 when the offset is the end of the file: the rest is empty.
    if (status !== 416 || offset === 0) return undefined
    return { stream: webStream(Readable.from([])) }
  }
  const isPart = status === 206
  const length = Number(headers['content-length'])
  const size = Number.isSafeInteger(length) ? length + (isPart ? offset : 0) : undefined
  return {
    // A server that does not know ranges sends everything: the bytes before the offset are skipped.
    stream: webStream(body, isPart ? 0 : offset),
    ...(size !== undefined && { size }),
    ...(name && { name }),
  }
}
