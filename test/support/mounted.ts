/** A small disk of a test's own, where the machine lets us mount one. */
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Disk {
  readonly path: string
  remount(option: 'ro' | 'rw'): Promise<void>
}

interface Owner {
  teardown(work: () => Promise<void>): void
}

/** Undefined where nothing may be mounted. */
export async function mounted(owner: Owner, size: string): Promise<Disk | undefined> {
  const path = await mkdtemp(join(tmpdir(), 'chapar-disk-'))
  const options = ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', path]
  const isMounted = await run('mount', options).then(
    () => true,
    () => false,
  )
  owner.teardown(async () => {
    if (isMounted) await run('umount', ['-l', path])
    await rm(path, { recursive: true, force: true })
  })
  if (!isMounted) return undefined
  await chmod(path, 0o755)
  return {
    path,
    async remount(option) {
      await run('mount', ['-o', `remount,${option}`, path])
    },
  }
}
