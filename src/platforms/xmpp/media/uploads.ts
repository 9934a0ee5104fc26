/** Puts files where the account's server stores them for others (XEP-0363). */
import { type Element, xml } from '@xmpp/client'
import type { Dispatcher } from 'undici'
import { failed, RequestFailed } from '../../../../machines/model/failure.ts'
import type { Media } from '../../../../machines/model/media.ts'
import type { MediaService } from '../../../media/media.ts'
import { openUrl, parseUrl } from '../../../net/fetch.ts'
import { RecentMap } from '../../kit/recent-map.ts'
import { discover, discoverItems, formField, hasFeature } from '../discovery.ts'
import { ns } from '../namespaces.ts'
import { RequestRefused, type Requests } from '../requests.ts'
import { isLink, nameFor } from './shared.ts'

/** The longest upload. Callers give up earlier if no bytes move. */
const UPLOAD_MS = 60 * 60_000
/** The only ones that a server may ask for. */
const headersTaken: ReadonlySet<string> = new Set(['authorization', 'cookie', 'expires'])
const MOST_REMEMBERED = 100

export interface UploadParts {
  readonly requests: Requests
  readonly domain: string
  readonly agent: Dispatcher
  readonly media: Pick<MediaService, 'open' | 'facts'>
  /** Whether files may travel unencrypted, to a server on this machine. */
  readonly allowPrivate: boolean
}

interface Service {
  readonly address: string
  readonly mostBytes?: number
}

interface Slot {
  readonly put: URL
  readonly headers: Readonly<Record<string, string>>
  readonly get: string
}

export class HttpUploads {
  readonly #parts: UploadParts
  /** By request and blob: a request that is repeated uploads nothing twice. */
  readonly #links = new RecentMap<string, string>(MOST_REMEMBERED)
  #service: Service | undefined

  constructor(parts: UploadParts) {
    this.#parts = parts
  }

  /** The same media with its files on the network. */
  async native(media: Media, requestId: string, signal: AbortSignal): Promise<Media> {
    const { sizes: _, thumbnail, ...facts } = media
    const file = await this.#link(media, requestId, signal)
    const small = thumbnail && {
      ...thumbnail,
      file: await this.#link({ ...thumbnail, name: 'thumbnail.jpg' }, requestId, signal),
    }
    return { ...facts, file, ...(small && { thumbnail: small }) }
  }

  async #link(media: Media, requestId: string, signal: AbortSignal) {
    if ('native' in media.file) return media.file
    const key = `${requestId} ${media.file.blob}`
    const native = this.#links.get(key) ?? (await this.#upload(media, media.file.blob, signal))
    this.#links.set(key, native)
    return { native }
  }

  async #upload(media: Media, blob: string, signal: AbortSignal): Promise<string> {
    const facts = await this.#parts.media.facts(blob)
    const mime = media.mime ?? facts.mime
    const service = await this.#find(signal)
    if (service.mostBytes !== undefined && facts.size > service.mostBytes) throw tooBig()
    const slot = await this.#slot(service, { name: nameFor(media), size: facts.size, mime }, signal)
    const status = await this.#put(slot, blob, { size: facts.size, mime }, signal)
    if (status === 413) throw tooBig()
    if (status < 200 || status > 299) throw unreachable()
    return slot.get
  }

  async #find(signal: AbortSignal): Promise<Service> {
    if (this.#service) return this.#service
    const { requests, domain } = this.#parts
    for (const address of [...(await discoverItems(requests, domain, signal)), domain]) {
      const info = await discover(requests, address, signal)
      if (!info || !hasFeature(info, ns.upload)) continue
      const mostBytes = Number(formField(info, 'max-file-size') ?? Number.NaN)
      this.#service = { address, ...(mostBytes > 0 && { mostBytes }) }
      return this.#service
    }
    throw failed('bad_request', 'the server of the account takes no files')
  }

  async #slot(
    { address, mostBytes }: Service,
    { name, size, mime }: { name: string; size: number; mime: string },
    signal: AbortSignal,
  ): Promise<Slot> {
    const attributes = { xmlns: ns.upload, filename: name, size, 'content-type': mime }
    try {
      const question = xml('request', attributes)
      const answer = await this.#parts.requests.ask('get', question, { to: address, signal })
      return this.#read(answer.getChild('slot', ns.upload))
    } catch (cause) {
      if (cause instanceof RequestRefused) throw refused(cause, mostBytes !== undefined)
      throw cause
    }
  }

  #read(slot: Element | undefined): Slot {
    const put = slot?.getChild('put')
    const get = slot?.getChild('get')?.attrs.url
    if (!put || !isLink(put.attrs.url) || !isLink(get)) throw unreachable()
    const target = parseUrl(put.attrs.url)
    if (target.protocol !== 'https:' && !this.#parts.allowPrivate) throw unreachable()
    const headers = put.getChildren('header').flatMap((header) => {
      const name = header.attrs.name?.toLowerCase() ?? ''
      return headersTaken.has(name) ? [[name, header.getText().replace(/[\r\n]/g, '')]] : []
    })
    return { put: target, get, headers: Object.fromEntries(headers) }
  }

  async #put(
    { put, headers }: Slot,
    blob: string,
    { size, mime }: { size: number; mime: string },
    signal: AbortSignal,
  ): Promise<number> {
    const { stream: body } = await this.#parts.media.open(blob)
    try {
      const answer = await openUrl(put, {
        agent: this.#parts.agent,
        method: 'PUT',
        body,
        headers: { ...headers, 'content-type': mime, 'content-length': `${size}` },
        totalMs: UPLOAD_MS,
        signal,
      })
      answer.body.on('error', () => undefined).destroy()
      return answer.status
    } catch (cause) {
      signal.throwIfAborted()
      throw cause instanceof RequestFailed ? cause : unreachable(cause)
    } finally {
      body.destroy()
    }
  }
}

const tooBig = () => failed('bad_request', 'file is too big')

/** The failure of an upload; no message has been sent yet. */
function unreachable(cause?: unknown) {
  const description = 'the server of the account did not take the file'
  return failed('unavailable', description, { retryAfterSeconds: 10 }, { cause })
}

function refused(cause: RequestRefused, isSizeKnown: boolean) {
  switch (cause.condition) {
    case 'not-acceptable':
      if (!isSizeKnown) return tooBig()
      return failed('bad_request', 'the server of the account takes no such files', {}, { cause })
    case 'resource-constraint':
      return failed('rate_limited', '', { retryAfterSeconds: 60 }, { cause })
    case 'forbidden':
    case 'not-allowed':
      return failed('bad_request', 'the server of the account takes no files', {}, { cause })
    default:
      return unreachable(cause)
  }
}
