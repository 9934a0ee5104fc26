/** One picture out of a film, or the cover of a song. */
import * as recipes from '../recipes.ts'
import type { Recording } from '../transcoder.ts'
import type { MediaTools, Picture } from './kind.ts'

/** Undefined when there is none, or nobody to make it. */
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
