/** What a kind of media is made from, with what, and what comes of it. */

import type { MediaKind } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Ingestion } from '../media.ts'
import type { Runner } from '../pool.ts'
import type { Look } from '../tasks/look.ts'
import type { Made } from '../tasks/picture.ts'
import type { TempFolder } from '../temporary.ts'
import type { Transcoder } from '../transcoder.ts'

export interface Given extends Look {
  readonly path: string
  readonly mime: string
  readonly name?: string
  readonly hints: NonNullable<Ingestion['hints']>
  readonly keepsGifs?: boolean
}

/** Everything in `tempFolder` is gone once the files that came of it are stored. */
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
