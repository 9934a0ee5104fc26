/** The types by which the rest of the service stores, reads, bounds and measures media. */
import type { Readable } from 'node:stream'
import type { Media, MediaKind } from '../../machines/model/media.ts'

/**
 * A received file in a temporary place. Its receiver releases it; the next start of the service removes forgotten ones.
 */
export interface Upload {
  readonly path: string
  readonly size: number
  /** As the sender gave it; shown to people, never used as a path. */
  readonly name?: string
  /** As the sender gave it; believed only where the bytes do not tell. */
  readonly mime?: string
  /** Present when the file at `path` is encrypted already, since files of its kind are not inspected. */
  readonly sealed?: SealedUpload
  release(): Promise<void>
}

export interface SealedUpload {
  readonly key: Buffer
  /** The same for the same bytes. */
  readonly digest: string
  /** The MIME type by the first bytes. */
  readonly sniffed?: string
}

export type Source =
  | { readonly from: 'upload'; readonly upload: Upload }
  | { readonly from: 'stream'; readonly stream: Readable }
  | { readonly from: 'url'; readonly url: string }

export interface Ingestion {
  /** The user whose quota it counts for and whose key encrypts it. */
  readonly userId: number
  readonly kind: MediaKind
  readonly source: Source
  /** Instead of the names that the source brings along. */
  readonly name?: string
  readonly mime?: string
  /** A GIF that is to be an animation stays a GIF. */
  readonly keepsGifs?: boolean
  /** Only for a photo: the source is a film, and its frame at this second becomes the photo. */
  readonly frameAt?: number
  /** A thumbnail of the sender's own: a JPEG of at most 200 kB. */
  readonly thumbnail?: Upload
  /** Facts by the sender; those in the bytes count more, but of sound. */
  readonly hints?: {
    readonly durationSeconds?: number
    readonly width?: number
    readonly height?: number
    readonly title?: string
    readonly performer?: string
  }
}

/** The stored media. Its files are blobs, kept while they are held, and at least an hour. */
export interface Ingested {
  /** The kind may differ from the requested one: a video that cannot be transcoded becomes a document. */
  readonly media: Media
  /** English notes about what was changed, and what could not be done. */
  readonly notes: readonly string[]
}

export interface Range {
  readonly offset?: number
  /** Up to the end if absent. */
  readonly length?: number
}

export interface BlobFacts {
  /** Size of the whole file, not of the range. */
  readonly size: number
  readonly mime: string
}

export interface OpenBlob extends BlobFacts {
  /** Errors when the stored bytes are damaged. */
  readonly stream: Readable
}

export interface MediaService {
  /**
   * Rejects with `RequestFailed` in the reference's words when the bytes are not what `kind` wants; then nothing is
   * kept. The caller releases what it uploaded.
   */
  ingest(ingestion: Ingestion, signal: AbortSignal): Promise<Ingested>
  /** Writes a stream to a temporary place. Rejects, leaving nothing, when it is longer than `limit` or breaks off. */
  spool(
    stream: Readable,
    about: { readonly limit: number; readonly name?: string; readonly mime?: string },
    signal: AbortSignal,
  ): Promise<Upload>
  /** Rejects with `not_found` when there is no such blob. */
  open(blob: string, range?: Range): Promise<OpenBlob>
  facts(blob: string): Promise<BlobFacts>
  /** Nothing in `media` expires while `holder` holds it; holding twice is holding once. */
  hold(media: Media, holder: string): Promise<void>
  release(holder: string): Promise<void>
}

/** A file that a client asked the path of: on the network, or in the store. */
export interface PathRequest {
  readonly credentialId: number
  /** One of the reference's folders: `photos`, `videos`, `music` … */
  readonly folder: Folder
  readonly file: { readonly native: string } | { readonly blob: string }
  readonly name?: string
  readonly mime?: string
  readonly size?: number
}

export interface IssuedPath {
  /** `photos/file_3.jpg` */
  readonly path: string
  readonly file: PathRequest['file']
  readonly name?: string
  readonly mime?: string
  readonly size?: number
}

export interface FilePaths {
  /** The same path for the same file while it is valid, which is for at least an hour from now. */
  issue(request: PathRequest): Promise<IssuedPath>
  find(credentialId: number, path: string): Promise<IssuedPath | undefined>
}

type Folder =
  | 'photos'
  | 'videos'
  | 'documents'
  | 'music'
  | 'voice'
  | 'video_notes'
  | 'animations'
  | 'stickers'
  | 'thumbnails'

export const folderOf: Readonly<Record<MediaKind | 'thumbnail', Folder>> = {
  photo: 'photos',
  video: 'videos',
  document: 'documents',
  audio: 'music',
  voice: 'voice',
  video_note: 'video_notes',
  animation: 'animations',
  sticker: 'stickers',
  thumbnail: 'thumbnails',
}

export interface MediaLimits {
  readonly photoBytes: number
  readonly uploadBytes: number
  /** The largest file that getFile gives out. */
  readonly downloadBytes: number
  /** The quota of one user, in bytes. */
  readonly quotaBytes: number
  readonly quotaFiles: number
  /** How long a file without a holder is kept. */
  readonly keepSeconds: number
  readonly urlTakes: number
}

export const usualLimits: MediaLimits = {
  photoBytes: 10_485_760,
  uploadBytes: 52_428_800,
  downloadBytes: 20_971_520,
  quotaBytes: 10 * 2 ** 30,
  quotaFiles: 100_000,
  keepSeconds: 86_400,
  urlTakes: 30_000,
}

/** The reference's, for files that the service fetches itself. */
const URL_PHOTO_BYTES = 5_242_880
const URL_FILE_BYTES = 20_971_520

export const urlLimit = (kind: string, { photoBytes, uploadBytes }: MediaLimits): number =>
  kind === 'photo' ? Math.min(photoBytes, URL_PHOTO_BYTES) : Math.min(uploadBytes, URL_FILE_BYTES)

export interface MediaMeasures {
  /** `kind` is the requested kind; `changed`: the file became another kind, or was transcoded. */
  ingested(kind: string, outcome: 'kept' | 'changed' | 'refused' | 'failed', bytes: number): void
  /** Bytes that were read from an opened file. */
  read(bytes: number): void
  transcoded(succeeded: boolean, seconds: number): void
  /** Tasks that wait for a thread. */
  waiting(count: () => number): void
}

const nobody = () => undefined

export const unmeasured: MediaMeasures = {
  ingested: nobody,
  read: nobody,
  transcoded: nobody,
  waiting: nobody,
}
