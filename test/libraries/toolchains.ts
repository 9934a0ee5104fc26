/** Makes libraries ready to run. Their packages lie in a cache of the user, outside the repository. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Program } from './bot-process.ts'

export type Language = 'python' | 'javascript' | 'go' | 'rust' | 'java'

/** Makes the program of one adapter: a file of the language's folder. */
export type Workshop = (adapter: string) => Program

/** Why the language cannot be run here. */
export class Missing extends Error {}

const run = promisify(execFile)
const cacheFolder = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'chapar-libraries',
)
export const sourceFolder = (language: Language) => join(import.meta.dirname, language)

const minutes = (count: number) => count * 60_000

interface Options {
  readonly cwd?: string
  readonly timeout?: number
}

/** Builds; rejects with what the tool printed last. */
async function build(file: string, args: readonly string[], options: Options = {}): Promise<void> {
  const { cwd = import.meta.dirname, timeout = minutes(2.5) } = options
  // Another Go than the machine's would be fetched at times.
  const env = { ...process.env, GOTOOLCHAIN: 'local' }
  try {
    await run(file, args, { cwd, timeout, env, maxBuffer: 32 << 20 })
  } catch (error) {
    const { stdout = '', stderr = '', message, code } = error as Error & Record<string, string>
    if (code === 'ENOENT') throw new Missing(`${file} is not installed`)
    const said = `${stdout}${stderr}`.trim().split('\n').slice(-8).join(' ')
    throw new Error(`${file} ${args[0]}: ${said || message}`)
  }
}

/** Fetches packages; what cannot be fetched is missing. */
async function fetch(...terms: Parameters<typeof build>): Promise<void> {
  try {
    await build(...terms)
  } catch (error) {
    throw new Missing(error instanceof Error ? error.message : String(error))
  }
}

async function digest(folder: string, names?: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  const files = names ?? ((await readdir(folder, { recursive: true })) as string[])
  for (const name of [...files].sort()) {
    const bytes = await readFile(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EISDIR') return ''
      throw error
    })
    hash.update(name).update(bytes)
  }
  return hash.digest('hex').slice(0, 16)
}

/** A folder of the cache that is made once: two runs at a time each make their own, and the first one counts. */
async function cached(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cacheFolder, name)
  const isThere = await readdir(folder).then(
    () => true,
    () => false,
  )
  if (isThere) return folder
  const making = `${folder}.${process.pid}`
  await rm(making, { recursive: true, force: true })
  await mkdir(making, { recursive: true })
  try {
    await make(making)
    await rename(making, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(making, { recursive: true, force: true })
  }
  return folder
}

async function python(): Promise<Workshop> {
  const source = sourceFolder('python')
  const name = `python-${await digest(source, ['requirements.txt'])}`
  const folder = await cached(name, async (making) => {
    await fetch('python3', ['-m', 'venv', making])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries=1']
    await fetch(join(making, 'bin/python'), [...pip, '-r', join(source, 'requirements.txt')])
  })
  return (adapter) => ({
    command: join(folder, 'bin/python'),
    args: ['-u', join(source, adapter)],
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  })
}

/** Node.js looks for packages beside the file that imports them, so the adapters move into the cache. */
async function javascript(): Promise<Workshop> {
  const source = sourceFolder('javascript')
  const folder = await cached(`javascript-${await digest(source)}`, async (making) => {
    await cp(source, making, { recursive: true })
    const npm = [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--no-package-lock',
      '--fetch-retries=1',
    ]
    await fetch('npm', npm, { cwd: making })
  })
  return (adapter) => ({ command: process.execPath, args: [join(folder, adapter)] })
}

async function go(): Promise<Workshop> {
  const source = sourceFolder('go')
  const folder = await cached(`go-${await digest(source)}`, async (making) => {
    await fetch('go', ['mod', 'download'], { cwd: source, timeout: minutes(5) })
    const words = ['build', '-mod=readonly', '-o', `${making}/`, './...']
    await build('go', words, { cwd: source, timeout: minutes(9) })
  })
  return (adapter) => ({ command: join(folder, dirname(adapter)), args: [] })
}

async function rust(): Promise<Workshop> {
  const source = sourceFolder('rust')
  const target = join(cacheFolder, 'rust')
  await fetch('cargo', ['fetch', '--quiet', '--locked'], { cwd: source, timeout: minutes(5) })
  const words = ['build', '--quiet', '--locked', '--target-dir', target]
  await build('cargo', words, { cwd: source, timeout: minutes(30) })
  return (adapter) => ({ command: join(target, 'debug', basename(adapter, '.rs')), args: [] })
}

async function java(): Promise<Workshop> {
  const source = sourceFolder('java')
  const folder = await cached(`java-${await digest(source)}`, async (making) => {
    await cp(source, making, { recursive: true })
    const options = { cwd: making, timeout: minutes(9) }
    const copying = ['dependency:copy-dependencies', '-DoutputDirectory=target/lib']
    await fetch('mvn', ['-q', '-B', ...copying], options)
    await build('mvn', ['-q', '-B', 'compile'], options)
  })
  const path = `${join(folder, 'target/classes')}:${join(folder, 'target/lib')}/*`
  return (adapter) => ({ command: 'java', args: ['-cp', path, basename(adapter, '.java')] })
}

const makers: Readonly<Record<Language, () => Promise<Workshop>>> = {
  python,
  javascript,
  go,
  rust,
  java,
}
const made = new Map<Language, Promise<Workshop>>()

/** Rejects with `Missing` where the language's tools or packages are not to be had. */
export function workshopOf(language: Language): Promise<Workshop> {
  const workshop = made.get(language) ?? makers[language]()
  made.set(language, workshop)
  return workshop
}
