/** Creates the cluster: checksummed pages, one superuser, a random password. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'
import { type Home, writePrivately } from './home.ts'
import { isAlive } from './processes.ts'

export const superuser = 'chapar'

/** PostgreSQL does not inherit our environment, because the environment holds secrets. */
export const environment = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' }

const flags = [
  `--username=${superuser}`,
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // The builtin provider needs no locale of the host and never changes with its C library.
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
]

/** Inside the cluster, so that the two appear in one step. */
const passwordFile = (cluster: string) => join(cluster, 'chapar.password')
const draftPrefix = (home: Home) => `${basename(home.cluster)}.new-`

async function removeAbandonedDrafts(home: Home): Promise<void> {
  const folder = dirname(home.cluster)
  for (const name of await readdir(folder)) {
    if (!name.startsWith(draftPrefix(home))) continue
    const maker = Number.parseInt(name.slice(draftPrefix(home).length), 10)
    if (!(await isAlive(maker))) await rm(join(folder, name), { recursive: true, force: true })
  }
}

async function initialise(home: Home, binaries: Binaries, draft: string, durable: boolean) {
  const handover = `${draft}.password`
  await writePrivately(home, handover, `${randomBytes(24).toString('base64url')}\n`)
  const args = [...flags, `--pgdata=${draft}`, `--pwfile=${handover}`]
  if (!durable) args.push('--no-sync')
  await promisify(execFile)(binaries.initdb, args, {
    ...home.account,
    cwd: '/',
    env: environment,
    timeout: 120_000,
  }).catch((cause) => {
    // What it writes last may be of what failed because of that.
    if (!/No space left on device|Check free disk space/.test(cause.stderr)) throw cause
    throw Object.assign(new Error('the disk is full', { cause }), { code: 'ENOSPC', path: draft })
  })
  await rename(handover, passwordFile(draft))
}

/** Built beside its final name and renamed, so that a half-made cluster is never used. */
async function create(home: Home, binaries: Binaries, durable: boolean): Promise<void> {
  await removeAbandonedDrafts(home)
  const draft = join(dirname(home.cluster), `${draftPrefix(home)}${process.pid}`)
  await initialise(home, binaries, draft, durable)
  try {
    await rename(draft, home.cluster)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    // Another process was faster, and its cluster is as good.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
  }
}

/** Returns the superuser's password. */
export async function ensureCluster(
  home: Home,
  binaries: Binaries,
  durable: boolean,
): Promise<string> {
  const isMade = await access(home.cluster).then(
    () => true,
    () => false,
  )
  if (!isMade) await create(home, binaries, durable)
  return (await readFile(passwordFile(home.cluster), 'utf8')).trim()
}
