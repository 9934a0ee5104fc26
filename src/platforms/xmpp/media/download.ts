/** The bytes of a shared file, from where they are wanted. */
import type { Dispatcher } from 'undici'
import type { FileStream } from '../../../../actors/ports/platform.ts'
import { failed } from '../../../../machines/model/failure.ts'
import { openUrl } from '../../../net/fetch.ts'
import { wrongFile } from '../../kit/failures.ts'
import { fileIn, rangeFrom } from '../../kit/ranged-file.ts'
import { isLink, nameInLink } from './shared.ts'

const downloadMilliseconds = 10 * 60_000
const redirects = 3

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
    return await openUrl(link, { agent, signal, redirects, headers, totalMs: downloadMilliseconds })
  } catch (cause) {
    signal.throwIfAborted()
    throw unavailable(cause)
  }
}

function unavailable(cause?: unknown) {
  const description = 'wrong file_id or the file is temporarily unavailable'
  return failed('bad_request', description, {}, { cause })
}
