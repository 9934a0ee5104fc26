/** promtool: the machine's, or the one in Debian's package of Prometheus, which is unpacked for the test: installed, it starts a server. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'

const run = promisify(execFile)
const timeout = 120_000

interface Promtool {
  readonly program: string
  /** Why it cannot be had here. */
  readonly missing?: string
}

export async function findPromtool(t: Pick<Test, 'teardown'>): Promise<Promtool> {
  if (spawnSync('promtool', ['--version']).status === 0) return { program: 'promtool' }
  const cwd = await mkdtemp(join(tmpdir(), 'chapar-promtool-'))
  t.teardown(() => rm(cwd, { recursive: true, force: true }))
  try {
    await run('apt-get', ['download', 'prometheus'], { cwd, timeout })
    const [name = ''] = await readdir(cwd)
    await run('dpkg-deb', ['--extract', name, '.'], { cwd, timeout })
    return { program: join(cwd, 'usr/bin/promtool') }
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n')
    return { program: '', missing: `promtool is not installed, and cannot be fetched: ${reason}` }
  }
}
