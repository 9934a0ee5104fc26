/** ffmpeg and ffprobe, where the machine has them. */
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

export interface Tools {
  readonly ffmpeg: string
  readonly ffprobe: string
}

/** Undefined unless both are there: one without the other does not help. */
export async function findTools(searchPath: string): Promise<Tools | undefined> {
  const [ffmpeg, ffprobe] = await Promise.all(
    ['ffmpeg', 'ffprobe'].map((name) => find(name, searchPath)),
  )
  return ffmpeg && ffprobe ? { ffmpeg, ffprobe } : undefined
}

export async function find(name: string, searchPath: string): Promise<string | undefined> {
  const file = process.platform === 'win32' ? `${name}.exe` : name
  for (const folder of searchPath.split(delimiter).filter((folder) => folder !== '')) {
    const path = join(folder, file)
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}
