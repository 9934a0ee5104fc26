/** The last release, to run beside this tree: unpacked from the repository, with the packages of this tree. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Testing } from './stage.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

/** The commit, as `release.txt` names it. */
const releaseCommit = async () =>
  (await readFile(join(import.meta.dirname, 'release.txt'), 'utf8')).trim()

/** Why the release is not to be had here, as in a clone without history; undefined where it is. */
export async function releaseMissing(): Promise<string | undefined> {
  const commit = await releaseCommit()
  try {
    await run('git', ['-C', root, 'cat-file', '-e', `${commit}^{commit}`])
    return undefined
  } catch {
    return `the repository here has no commit ${commit}`
  }
}

export interface Release {
  /** The tree from which its nodes are started. */
  readonly tree: string
  /** The newest migration that it knows. */
  readonly newest: string
}

export async function unpackRelease(t: Testing): Promise<Release> {
  const tree = await mkdtemp(join(tmpdir(), 'chapar-release-'))
  t.teardown(() => rm(tree, { recursive: true, force: true }))
  const git = spawn('git', ['-C', root, 'archive', '--format=tar', await releaseCommit()])
  const tar = spawn('tar', ['-x', '-C', tree])
  git.stdout.pipe(tar.stdin)
  const codes = await Promise.all([once(git, 'close'), once(tar, 'close')])
  if (codes.some(([code]) => code !== 0)) throw new Error('the release could not be unpacked')
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'))
  const files = await readdir(join(tree, 'src/database/migrations'))
  const names = files.filter((file) => /^\d{4}-/.test(file)).map((file) => file.slice(0, -3))
  return { tree, newest: names.sort().at(-1) ?? '' }
}
