/** Thumbnails: one that the sender gives, one picture of a film, or the cover of a song. */

import { failed } from '../../../machines/model/failure.ts'
import type { Upload } from '../media.ts'
import * as recipes from '../recipes.ts'
import type { Recording } from '../transcoder.ts'
import { type MediaTools, noPicture, type Picture, smaller, THUMBNAIL_SIDE } from './kind.ts'

/** One picture of a film, or the cover of a song. Undefined when there is none, or no tool to make it. */
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

/** A thumbnail that the sender gives: a JPEG, small in bytes, made small in size. */
export async function ownThumbnail(
  upload: Upload | undefined,
  tools: MediaTools,
): Promise<Picture | undefined> {
  if (!upload) return undefined
  const { size, path } = upload
  if (size > MAX_BYTES) {
    const limit = `the maximum size is ${MAX_BYTES} bytes`
    throw failed('bad_request', `file of size ${size} bytes is too big for a thumbnail; ${limit}`)
  }
  const { picture } = await tools.pool.run('look', { path }, tools.signal)
  const [made] = (picture && (await smaller(path, [THUMBNAIL_SIDE], tools))) ?? []
  if (!made) throw noPicture()
  return made
}
