/** The bytes of a shared file, from where they are wanted. */
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { FileStream } from '../../../../actors/ports/platform.ts'
import { failed } from '../../../../machines/model/failure.ts'
import { webStream } from '../../../media/web-stream.ts'
import { openUrl } from '../../../net/fetch.ts'
import { isLink, nameInLink } from './links.ts'

const downloadMilliseconds = 10 * 60_000
const redirects = 3

export async function download(
  agent: Dispatcher,
  link: string,
  offset: number,
  signal: AbortSignal,
): Promise<FileStream> {
  if (!isLink(link)) throw failed('bad_request', 'wrong file identifier/HTTP URL specified')
  const { status, headers, body } = await open(agent, link, offset, signal)
  if (status === 416 && offset > 0) {
    // Nothing begins at its end.
    body.on('error', () => undefined).destroy()
    return { stream: webStream(Readable.from([])) }
  }
  if (status !== 200 && status !== 206) {
    body.on('error', () => undefined).destroy()
    throw failed('bad_request', 'wrong file_id or the file is temporarily unavailable')
  }
  const isPart = status === 206
  const length = Number(headers['content-length'])
  const size = Number.isSafeInteger(length) ? length + (isPart ? offset : 0) : undefined
  const mime = headers['content-type']
  const name = nameInLink(link)
  return {
    // A server that does not know ranges sends everything.
    stream: webStream(body, isPart ? 0 : offset),
    ...(size !== undefined && { size }),
    ...(typeof mime === 'string' && { mime }),
    ...(name && { name }),
  }
}

async function open(agent: Dispatcher, link: string, offset: number, signal: AbortSignal) {
  const headers = offset > 0 ? { range: `bytes=${offset}-` } : {}
  try {
    return await openUrl(link, { agent, signal, redirects, headers, totalMs: downloadMilliseconds })
  } catch (cause) {
    signal.throwIfAborted()
    throw failed(
      'bad_request',
      'wrong file_id or the file is temporarily unavailable',
      {},
      { cause },
    )
  }
}
