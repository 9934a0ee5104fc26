/** A thumbnail that the sender gives: a JPEG, small in bytes, made small in size. */
import { failed } from '../../../machines/model/failure.ts'
import type { Upload } from '../media.ts'
import { type MediaTools, noPicture, type Picture, smaller, THUMBNAIL_SIDE } from './kind.ts'

/** The reference's. */
const MAX_BYTES = 204_799

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
