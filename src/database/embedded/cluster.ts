/** Creates the cluster: checksummed pages, one superuser, a random password. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Binaries } from './binaries.ts'
import { type Home, writePrivately } from './home.ts'

export const superuser = 'chapar'

/** Nothing of our own environment reaches Postgres: it holds secrets that are not its business. */
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

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}

/** Built beside its final name and renamed, so that a half-made cluster is never used. */
async function create(home: Home, binaries: Binaries, durable: boolean): Promise<void> {
  const draft = `${home.cluster}.new`
  await rm(draft, { recursive: true, force: true })
  await writePrivately(home, home.passwordFile, `${randomBytes(24).toString('base64url')}\n`)
  const args = [...flags, `--pgdata=${draft}`, `--pwfile=${home.passwordFile}`]
  if (!durable) args.push('--no-sync')
  await promisify(execFile)(binaries.initdb, args, {
    ...home.account,
    cwd: '/',
    env: environment,
    timeout: 120_000,
  })
  await rename(draft, home.cluster)
}

/** Returns the superuser's password. */
export async function ensureCluster(
  home: Home,
  binaries: Binaries,
  durable: boolean,
): Promise<string> {
  if (!(await exists(join(home.cluster, 'PG_VERSION')))) await create(home, binaries, durable)
  return (await readFile(home.passwordFile, 'utf8')).trim()
}
