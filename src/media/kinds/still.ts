/** One picture out of a film, or the cover of a song. */
import * as recipes from '../recipes.ts'
import type { Recording } from '../studio.ts'
import type { Hands, Picture } from './kind.ts'

/** Undefined when there is none, or nobody to make it. */
export async function stillOf(recording: Recording, hands: Hands): Promise<Picture | undefined> {
  const { studio, work, pool, signal } = hands
  const path = work.file()
  if (!(await studio.make(recording, recipes.still, path, hands))) return undefined
  const { size, picture } = await pool.run('look', { path }, signal)
  return picture && { path, size, width: picture.width, height: picture.height }
}
