/** Files on their way out: the paths that getFile gives out, and the bytes behind them. */

import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { FileStream } from '../../actors/ports/platform.ts'
import { failed, RequestFailed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import { databaseNow, MediaPath, type PathFile } from '../database/entities.ts'
import { cleanName, mimeOf } from './formats.ts'
import type { FilePaths, IssuedPath, MediaService, PathRequest } from './media.ts'

/** Longer than promised, so that a repeated getFile usually returns the same path. */
const LIFETIME = '2 hours'

const extensions: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'image/jpeg': 'jpg',
    'image/png': 'png',
    'image/webp': 'webp',
    'image/gif': 'gif',
    'video/mp4': 'mp4',
    'video/webm': 'webm',
    'audio/mpeg': 'mp3',
    'audio/mp4': 'm4a',
    'audio/ogg': 'oga',
    'application/pdf': 'pdf',
    'application/zip': 'zip',
    'text/plain': 'txt',
    'application/x-tgsticker': 'tgs',
  }),
)

type Row = Pick<IssuedPath, 'path'> & { readonly file: PathFile }

/** SQL, since each reads and writes the row in one statement: many may ask for one file at the same moment. */
const again = `update media_path set expires_at = now() + interval '${LIFETIME}', file = $3
  where credential_id = $1 and source = $2 and expires_at > now() returning path, file`
const count = `insert into media_path_count as c (credential_id, issued) values ($1, 0)
  on conflict (credential_id) do update set issued = c.issued + 1 returning issued`
/** Two concurrent callers both get the path of the first one. */
const issue = `insert into media_path as p (credential_id, number, path, source, file, expires_at)
  values ($1, $2, $3, $4, $5, now() + interval '${LIFETIME}')
  on conflict (credential_id, source) do update set
    expires_at = excluded.expires_at,
    file = excluded.file,
    number = case when p.expires_at > now() then p.number else excluded.number end,
    path = case when p.expires_at > now() then p.path else excluded.path end
  returning path, file`

export class PostgresFilePaths implements FilePaths {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async issue({ credentialId, folder, ...about }: PathRequest): Promise<IssuedPath> {
    const source = sourceOf(folder, about.file)
    const [known] = await this.#db.query<Row>(again, [credentialId, source, about])
    if (known) return { ...known.file, path: known.path }
    const [counted] = await this.#db.query<{ issued: number }>(count, [credentialId])
    const number = counted?.issued ?? 0
    const path = `${folder}/file_${number}${extensionOf(about)}`
    const values = [credentialId, number, path, source, about]
    const [row] = await this.#db.query<Row>(issue, values)
    return { ...about, path: row?.path ?? path }
  }

  async find(credentialId: number, path: string): Promise<IssuedPath | undefined> {
    const live = { credentialId, path, expiresAt: { $gt: databaseNow() } }
    const found = await this.#db.records((em) => em.findOne(MediaPath, live))
    return found ? { ...found.file, path } : undefined
  }

  async sweep(): Promise<void> {
    const over = { expiresAt: { $lt: databaseNow() } }
    await this.#db.records((em) => em.nativeDelete(MediaPath, over))
  }
}

const sourceOf = (folder: string, file: PathRequest['file']): string =>
  'blob' in file ? `${folder}|blob|${file.blob}` : `${folder}|native|${file.native}`

function extensionOf({ name = '', mime = '' }: { name?: string; mime?: string }): string {
  const known = extensions.get(mime)
  if (known) return `.${known}`
  const own = extname(name).toLowerCase()
  return /^\.[a-z\d]{1,8}$/.test(own) ? own : ''
}

interface DownloadsOptions {
  readonly rows: FilePaths
  readonly service: Pick<MediaService, 'open' | 'facts'>
  readonly limit: number
  /** The bytes of a file that is on a network. */
  download(
    credentialId: number,
    native: string,
    offset: number,
    signal: AbortSignal,
  ): Promise<FileStream>
}

export interface Download extends IssuedPath {
  /** The same for as long as the bytes are. */
  readonly etag: string
  /**
   * From `offset` on, exactly `length` bytes; fewer are an error. Without `length` the stream ends with the file, or with
   * an error where more would come than may be downloaded. It lives no longer than `signal` lets it.
   */
  open(offset: number, length: number | undefined, signal: AbortSignal): Promise<Readable>
}

type Facts = Pick<PathRequest, 'size' | 'mime' | 'name'>

const ASK_MS = 30_000

export class Downloads implements Pick<FilePaths, 'issue'> {
  readonly #options: DownloadsOptions

  constructor(options: DownloadsOptions) {
    this.#options = options
  }

  /** Rejects in the reference's words if the file is too large or cannot be read. */
  async issue(request: PathRequest): Promise<IssuedPath> {
    const { rows, limit } = this.#options
    if ((request.size ?? 0) > limit) throw failed('bad_request', 'file is too big')
    const facts = await this.#facts(request)
    if ((facts.size ?? 0) > limit) throw failed('bad_request', 'file is too big')
    return await rows.issue({ ...request, ...facts })
  }

  async find(credentialId: number, path: string): Promise<Download | undefined> {
    const { rows, service, download, limit } = this.#options
    const issued = await rows.find(credentialId, path)
    if (!issued) return undefined
    const { file } = issued
    return {
      ...issued,
      etag: etagOf(file),
      async open(offset, length, signal) {
        if ('blob' in file) {
          const range = { offset, ...(length !== undefined && { length }) }
          return (await service.open(file.blob, range)).stream
        }
        const { stream } = await download(credentialId, file.native, offset, signal)
        // By chunks: a network may send them so small that each takes a hundred times its bytes.
        const one = { signal, objectMode: true, highWaterMark: 1 }
        const source = Readable.fromWeb(stream as ReadableStream<Uint8Array>, one)
        const bytes =
          length === undefined ? atMost(limit - offset, source) : exactly(length, source)
        return Readable.from(bytes)
      },
    }
  }

  /** Asks the network, because only it knows whether the file still exists, and its size. */
  async #facts({ credentialId, file }: PathRequest): Promise<Facts> {
    const { service, download } = this.#options
    if ('blob' in file) return await service.facts(file.blob)
    const signal = AbortSignal.timeout(ASK_MS)
    try {
      const { stream, size, ...told } = await download(credentialId, file.native, 0, signal)
      await stream.cancel()
      const name = cleanName(told.name)
      const mime = mimeOf(undefined, told)
      return { mime, ...(size !== undefined && { size }), ...(name && { name }) }
    } catch (cause) {
      if (cause instanceof RequestFailed && cause.failure.code === 'unavailable') throw cause
      const description = 'wrong file_id or the file is temporarily unavailable'
      throw failed('bad_request', description, {}, { cause })
    }
  }
}

/** Counts the bytes of a file of unknown size. */
export async function* atMost(limit: number, source: AsyncIterable<Uint8Array>) {
  let left = limit
  for await (const chunk of source) {
    left -= chunk.length
    if (left < 0) throw new Error('the file is too big')
    yield chunk
  }
}

/** Makes an answer exactly as long as announced, because otherwise the next answer would begin inside it. */
async function* exactly(length: number, source: AsyncIterable<Buffer>) {
  let left = length
  for await (const chunk of source) {
    yield chunk.length > left ? chunk.subarray(0, left) : chunk
    left -= chunk.length
    if (left <= 0) return
  }
  if (left > 0) throw new Error('the file ended early')
}

const etagOf = (file: IssuedPath['file']): string => {
  const name = 'blob' in file ? `blob|${file.blob}` : `native|${file.native}`
  return `"${createHash('sha256').update(name).digest('base64url').slice(0, 27)}"`
}
