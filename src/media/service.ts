/** Receives or fetches media, inspects their bytes, makes them fit for their kind and stores them. */
import { pipeline, type Readable, Transform } from 'node:stream'
import { blobMoved, isWatched } from '../../actors/credential/perform.ts'
import type { Logger } from '../../actors/ports/ports.ts'
import { failed, RequestFailed } from '../../machines/model/failure.ts'
import type { Media, MediaKind } from '../../machines/model/media.ts'
import { FairSemaphore } from '../fair-semaphore.ts'
import { UrlRefused } from '../net/fetch.ts'
import { CONNECTIONS_PER_ORIGIN, type GuardedAgent } from '../net/guard.ts'
import type { BlobStore } from './blobs.ts'
import { assertByUrl, assertTaken, fetchUpload, urlFrom } from './by-url.ts'
import { cleanName, isLookedInto, mimeOf } from './formats.ts'
import { animation, video, videoNote } from './kinds/film.ts'
import {
  document,
  type Given,
  type Picture,
  type Prepare,
  type Prepared,
  withThumbnail,
} from './kinds/kind.ts'
import { photo, sticker } from './kinds/picture.ts'
import { audio, voice } from './kinds/sound.ts'
import {
  type Ingested,
  type Ingestion,
  type MediaLimits,
  type MediaMeasures,
  type MediaService,
  type Range,
  type Upload,
  urlLimit,
} from './media.ts'
import { type MediaPool, withSemaphore } from './pool.ts'
import type { Spool } from './spool.ts'
import type { Look } from './tasks/look.ts'
import { explain, type TempFolder, type TemporaryFiles } from './temporary.ts'
import type { Transcoder } from './transcoder.ts'

interface MediaServiceOptions {
  readonly blobs: BlobStore
  readonly temporary: TemporaryFiles
  readonly spool: Spool
  readonly pool: MediaPool
  readonly transcoder: Transcoder
  readonly agent: GuardedAgent
  readonly limits: MediaLimits
  readonly measures: MediaMeasures
  readonly logger: Logger
}

const kinds: Readonly<Record<MediaKind, Prepare>> = {
  photo,
  video,
  animation,
  audio,
  voice,
  video_note: videoNote,
  document,
  sticker,
}

export class StoredMediaService implements MediaService {
  readonly #options: MediaServiceOptions
  /** An address may be as slow as its owner wants. One user leaves half of the connections to an origin to others. */
  readonly #fetching = new FairSemaphore({
    places: 256,
    placesPerUser: CONNECTIONS_PER_ORIGIN / 2,
    waiting: 4_096,
    waitingPerUser: 512,
  })

  constructor(options: MediaServiceOptions) {
    this.#options = options
  }

  async ingest(ingestion: Ingestion, signal: AbortSignal): Promise<Ingested> {
    const { measures } = this.#options
    try {
      const ingested = await this.#ingest(ingestion, signal)
      const outcome = ingested.notes.length > 0 ? 'changed' : 'kept'
      measures.ingested(ingestion.kind, outcome, ingested.media.size ?? 0)
      return ingested
    } catch (error) {
      const isRefused = error instanceof RequestFailed && error.failure.code === 'bad_request'
      measures.ingested(ingestion.kind, isRefused ? 'refused' : 'failed', 0)
      throw error
    }
  }

  async #ingest(ingestion: Ingestion, signal: AbortSignal): Promise<Ingested> {
    const { transcoder, temporary, limits } = this.#options
    const { kind, userId } = ingestion
    const pool = this.#options.pool.of(userId)
    const upload = await this.#receive(ingestion, signal)
    try {
      await using tempFolder = await temporary.folder()
      const tools = { pool, transcoder, userId, tempFolder, photoBytes: limits.photoBytes, signal }
      const given = await this.#inspect(ingestion, upload, tempFolder, signal)
      const prepared = await kinds[kind](given, tools)
      const whole = await withThumbnail(prepared, ingestion.thumbnail, tools)
      return await this.#store(userId, whole, upload, signal)
    } finally {
      // An upload belongs to the caller, who received it and may use it again.
      if (ingestion.source.from !== 'upload') await upload.release()
    }
  }

  spool(
    stream: Readable,
    about: { readonly limit: number; readonly name?: string; readonly mime?: string },
    signal: AbortSignal,
  ): Promise<Upload> {
    return this.#options.spool.receive(stream, about, signal)
  }

  async open(blob: string, range?: Range) {
    const opened = await this.#options.blobs.open(blob, range)
    const rest = Math.max(0, opened.size - (range?.offset ?? 0))
    this.#options.measures.read(Math.min(range?.length ?? rest, rest))
    return { ...opened, stream: observed(blob, opened.stream) }
  }

  facts(blob: string) {
    return this.#options.blobs.facts(blob)
  }

  hold(media: Media, holder: string): Promise<void> {
    return this.#options.blobs.hold(blobsOf(media), holder)
  }

  release(holder: string): Promise<void> {
    return this.#options.blobs.release(holder)
  }

  async #receive({ source, kind, userId }: Ingestion, signal: AbortSignal): Promise<Upload> {
    const { spool, agent, limits } = this.#options
    switch (source.from) {
      case 'upload':
        return source.upload
      case 'stream':
        return await spool.receive(source.stream, { limit: limits.uploadBytes }, signal)
      case 'url': {
        assertByUrl(kind)
        const limit = urlLimit(kind, limits)
        const options = { agent, spool, takes: limits.urlTakes, limit }
        const fetching = () => fetchUpload(source.url, options, signal)
        return await withSemaphore(this.#fetching, { userId, signal }, fetching).catch(
          (error: unknown) => {
            this.#tell(source.url, error)
            throw error
          },
        )
      }
    }
  }

  /** The sender learns only that there is no file. The log gets the host alone: the rest of an address may hold secrets. */
  #tell(url: string, error: unknown): void {
    const cause = error instanceof RequestFailed ? error.cause : undefined
    if (!(cause instanceof Error) || cause instanceof UrlRefused) return
    const reason = cause.cause instanceof Error ? cause.cause : cause
    const err = `${reason.name}: ${reason.message}`
    this.#options.logger.info({ host: urlFrom(url).host, err }, 'a file could not be fetched')
  }

  async #inspect(
    ingestion: Ingestion,
    upload: Upload,
    tempFolder: TempFolder,
    signal: AbortSignal,
  ): Promise<Given> {
    const { limits } = this.#options
    const pool = this.#options.pool.of(ingestion.userId)
    const { path, size, sealed } = upload
    if (size === 0) throw failed('bad_request', 'file must be non-empty')
    if (size > limits.uploadBytes) throw failed('bad_request', 'file is too big')
    const name = cleanName(ingestion.name ?? upload.name)
    const told = ingestion.mime ?? upload.mime
    const { hints = {}, keepsGifs = false, frameAt } = ingestion
    const wanted = { hints, keepsGifs, ...(frameAt !== undefined && { frameAt }) }
    const given = (look: Look, path: string): Given => {
      const mime = mimeOf(look.mime, { ...(name && { name }), ...(told && { mime: told }) })
      if (ingestion.source.from === 'url') assertTaken(ingestion.kind, mime)
      const sniffed = look.mime !== undefined && { sniffed: look.mime }
      return { ...look, path, mime, ...sniffed, ...(name && { name }), ...wanted }
    }
    if (!sealed) return given(await pool.run('look', { path }, signal), path)
    const { sniffed } = sealed
    const unseen = given({ size, ...(sniffed !== undefined && { mime: sniffed }) }, path)
    if (!isLookedInto(unseen.mime)) return unseen
    const plain = tempFolder.file()
    const task = { path, size, key: sealed.key, target: plain }
    await pool.run('unsealFile', task, signal).catch(explain)
    return given(await pool.run('look', { path: plain }, signal), plain)
  }

  /** The file is stored before its smaller pictures: without room for it nothing is kept. */
  async #store(
    userId: number,
    prepared: Prepared,
    upload: Upload,
    signal: AbortSignal,
  ): Promise<Ingested> {
    const { blobs } = this.#options
    const { path, notes, thumbnail, sizes, ...facts } = prepared
    const { sealed } = upload
    const about = { userId, mime: facts.mime }
    const { blob, size } =
      sealed && path === upload.path
        ? await blobs.take({ ...upload, sealed }, about, signal)
        : await blobs.add({ ...about, path }, signal)
    const picture = async ({ path, size, width, height }: Picture): Promise<Media> => {
      const added = await blobs.add({ userId, path, mime: 'image/jpeg' }, signal)
      const file = { blob: added.blob }
      return { kind: 'photo', file, size, mime: 'image/jpeg', width, height }
    }
    const smaller = sizes && (await Promise.all(sizes.map(picture)))
    const thumb = thumbnail && (await picture(thumbnail))
    const media: Media = {
      ...facts,
      file: { blob },
      size,
      ...(smaller && smaller.length > 0 && { sizes: smaller }),
      ...(thumb && { thumbnail: thumb }),
    }
    return { media, notes }
  }
}

/** The blobs of a file and of its smaller pictures; a file on a network has none. */
function blobsOf({ file, thumbnail, sizes = [] }: Media): string[] {
  const own = 'blob' in file ? [file.blob] : []
  return [...own, ...(thumbnail ? blobsOf(thumbnail) : []), ...sizes.flatMap(blobsOf)]
}

/** The same bytes; each piece that is read notifies the transfer that watches the blob. */
export function observed(blob: string, stream: Readable): Readable {
  if (!isWatched(blob)) return stream
  const passing = new Transform({
    transform(chunk, _, next) {
      blobMoved(blob)
      next(null, chunk)
    },
  })
  // An error or an early end of one stream ends the other.
  return pipeline(stream, passing, () => undefined)
}
