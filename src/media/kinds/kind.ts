/** A kind of media: what it is made from, the tools, the result and its thumbnail; a document is any bytes, untouched. */
import { failed } from '../../../machines/model/failure.ts'
import type { MediaKind } from '../../../machines/model/media.ts'
import type { Ingestion, Upload } from '../media.ts'
import type { Runner } from '../pool.ts'
import * as recipes from '../recipes.ts'
import type { Look } from '../tasks/look.ts'
import type { Made } from '../tasks/picture.ts'
import type { TempFolder } from '../temporary.ts'
import type { Recording, Transcoder } from '../transcoder.ts'

export interface Given extends Look {
  readonly path: string
  readonly mime: string
  /** The type that the bytes have, whatever name and sender say. */
  readonly sniffed?: string
  readonly name?: string
  readonly hints: NonNullable<Ingestion['hints']>
  readonly keepsGifs?: boolean
  readonly frameAt?: number
}

/** `tempFolder` is deleted once the resulting files are stored. */
export interface MediaTools {
  readonly pool: Runner
  readonly transcoder: Transcoder
  readonly userId: number
  readonly tempFolder: TempFolder
  readonly photoBytes: number
  readonly signal: AbortSignal
}

export type Picture = Omit<Made, 'target'> & { readonly path: string }

export interface Prepared {
  readonly kind: MediaKind
  readonly path: string
  readonly mime: string
  readonly name?: string
  readonly width?: number
  readonly height?: number
  readonly durationSeconds?: number
  readonly title?: string
  readonly performer?: string
  readonly thumbnail?: Picture
  /** Smaller ones, smallest first. */
  readonly sizes?: readonly Picture[]
  readonly notes: readonly string[]
}

export type Prepare = (given: Given, tools: MediaTools) => Promise<Prepared>

export const noPicture = () => failed('bad_request', 'IMAGE_PROCESS_FAILED')

export const THUMBNAIL_SIDE = 320

/** JPEGs within these boxes, in their order. Undefined when the picture cannot be decoded. */
export async function smaller(
  source: string,
  boxes: readonly number[],
  { pool, tempFolder, signal }: MediaTools,
): Promise<Picture[] | undefined> {
  const wanted = boxes.map((box) => ({ target: tempFolder.file(), box, format: 'jpeg' as const }))
  const made = await pool.run('picture', { source, wanted }, signal)
  return made?.map(({ target, ...picture }) => ({ path: target, ...picture }))
}

/** A frame of a film, or the cover of a song. Undefined without one, or without ffmpeg. */
export async function stillOf(
  recording: Recording,
  tools: MediaTools,
): Promise<Picture | undefined> {
  const { transcoder, tempFolder, pool, signal } = tools
  const path = tempFolder.file()
  if (!(await transcoder.make(recording, recipes.still, path, tools))) return undefined
  const { size, picture } = await pool.run('look', { path }, signal)
  return picture && { path, size, width: picture.width, height: picture.height }
}

/** The reference's. */
const MAX_BYTES = 204_799

/** With the sender's thumbnail, scaled down. As in the reference, a file goes without one that does not fit. */
export async function withThumbnail(
  prepared: Prepared,
  upload: Upload | undefined,
  tools: MediaTools,
): Promise<Prepared> {
  // Some libraries add an empty file to every upload.
  if (!upload || upload.size === 0) return prepared
  const { size, path } = upload
  const without = (why: string): Prepared => ({
    ...prepared,
    notes: [...prepared.notes, `the thumbnail was left out: ${why}`],
  })
  if (size > MAX_BYTES) return without(`it has ${size} bytes, at most ${MAX_BYTES} fit`)
  const { picture } = await tools.pool.run('look', { path }, tools.signal)
  const [thumbnail] = (picture && (await smaller(path, [THUMBNAIL_SIDE], tools))) ?? []
  return thumbnail ? { ...prepared, thumbnail } : without('it is not a picture')
}

export async function document(given: Given, tools: MediaTools): Promise<Prepared> {
  return await asDocument(given, tools)
}

/** The fallback of other kinds; `notes` give the reason. */
export async function asDocument(
  given: Given,
  tools: MediaTools,
  notes: readonly string[] = [],
): Promise<Prepared> {
  const { path, mime, name } = given
  const thumbnail = await thumbnailOf(given, tools)
  return {
    kind: 'document',
    path,
    mime,
    ...(name && { name }),
    ...(thumbnail && { thumbnail }),
    notes,
  }
}

async function thumbnailOf(given: Given, tools: MediaTools) {
  if (given.picture) return (await smaller(given.path, [THUMBNAIL_SIDE], tools))?.[0]
  return given.mime.startsWith('video/') ? await stillOf(given, tools) : undefined
}
