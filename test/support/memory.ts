/** Where test servers keep their files: in memory if there is room, for one database is six hundred new files. */
import { createHash } from 'node:crypto'
import { existsSync, statfsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const enough = 2 * 1024 ** 3
const root = join(import.meta.dirname, '../..')

function hasRoom(): boolean {
  if (!existsSync(memory)) return false
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > enough
}

/** The same folder for every run of this checkout and account; in memory it lasts until the machine restarts. */
export function lastingFolder(name: string): string {
  if (!hasRoom()) return join(root, 'data', name)
  const owner = createHash('sha256').update(`${userInfo().uid} ${root}`).digest('hex')
  return join(memory, `chapar-test-${owner.slice(0, 12)}`, name)
}
