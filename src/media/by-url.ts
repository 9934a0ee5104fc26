/** Media by URL: fetched through the guard. All unreachable URLs get the same answer, so that it reveals nothing. */

import { failed, RequestFailed } from '../../machines/model/failure.ts'
import type { MediaKind } from '../../machines/model/media.ts'
import { openUrl, parseUrl, UrlRefused } from '../net/fetch.ts'
import type { GuardedAgent } from '../net/guard.ts'
import type { Upload } from './media.ts'
import { type Spool, TooLarge } from './spool.ts'

interface UrlOptions {
  readonly agent: GuardedAgent
  readonly spool: Pick<Spool, 'receive'>
  readonly takes: number
  readonly limit: number
}

const REDIRECTS = 3

/** Rejects with `RequestFailed`, which does not show whether a private address or a closed port was the reason. */
export async function fetchUpload(
  text: string,
  { agent, spool, takes, limit }: UrlOptions,
  signal: AbortSignal,
): Promise<Upload> {
  const url = urlFrom(text)
  try {
    const response = await openUrl(url, { agent, totalMs: takes, signal, redirects: REDIRECTS })
    const { status, headers, body } = response
    if (status !== 200) {
      body.on('error', () => undefined).destroy()
      throw new Error(`answered ${status}`)
    }
    const name = nameIn(url)
    const type = headers['content-type']
    const about = { limit, ...(name && { name }), ...(typeof type === 'string' && { mime: type }) }
    return await spool.receive(body, about, signal)
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof RequestFailed) throw cause
    if (cause instanceof TooLarge) throw failed('bad_request', 'file is too big')
    throw failed('bad_request', 'failed to get HTTP URL content', {}, { cause })
  }
}

/** The scheme may be left out. */
export function urlFrom(text: string): URL {
  try {
    return parseUrl(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  } catch (cause) {
    if (!(cause instanceof UrlRefused)) throw cause
    const description = `invalid file HTTP URL specified: ${cause.reason}`
    throw failed('bad_request', description, {}, { cause })
  }
}

function nameIn({ pathname }: URL): string | undefined {
  const last = pathname.split('/').at(-1)
  try {
    return last && decodeURIComponent(last)
  } catch {
    // An invalid escape: then the path names no file.
    return undefined
  }
}

/** The file types that each kind accepts from a URL, as in the reference. */
const taken: Readonly<Record<MediaKind, RegExp | undefined>> = {
  photo: /^image\/(jpeg|png|webp|gif|tiff)$/,
  document: /^(image\/gif|application\/pdf|application\/zip)$/,
  video: /^video\//,
  animation: /^(image\/gif|video\/)/,
  audio: /^(audio\/|application\/ogg$|video\/mp4$)/,
  voice: /^(audio\/|application\/ogg$|video\/mp4$)/,
  sticker: /^(image\/(jpeg|png|webp|gif)|video\/webm|application\/x-tgsticker)$/,
  video_note: undefined,
}

const sound = 'audio and MP4'
const inWords: Readonly<Record<MediaKind, string>> = {
  photo: 'JPEG, PNG, WebP, GIF and TIFF pictures',
  document: 'GIF, PDF and ZIP files (upload others)',
  video: 'video',
  animation: 'GIF pictures and video',
  audio: sound,
  voice: sound,
  sticker: 'WebP, PNG, JPEG and GIF pictures, WebM video and TGS',
  video_note: 'nothing',
}

export function assertByUrl(kind: MediaKind): void {
  if (!taken[kind]) throw failed('bad_request', "can't upload file by URL")
}

/** Begins in the reference's words, which libraries test for. */
export function assertTaken(kind: MediaKind, mime: string): void {
  if (taken[kind]?.test(mime)) return
  const why = `${mime} is not taken from an address as a ${kind}, only ${inWords[kind]}`
  throw failed('bad_request', `wrong type of the web page content: ${why}`)
}
