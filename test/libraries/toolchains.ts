/** Makes libraries ready to run. Their packages lie in a cache of the user, outside the repository. */
import { type ExecFileException, execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, extname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Program } from './bot-process.ts'

/** A language, or a program that is built or installed as a whole. */
export type Toolchain =
  | 'python'
  | 'telegrinder'
  | 'nonebot'
  | 'javascript'
  | 'go'
  | 'rust'
  | 'java'
  | 'alertmanager'
  | 'node-red'
  | 'n8n'
  | 'openclaw'
  | 'hermes'
  | 'home-assistant'

/** Makes the program of one adapter: a file of the toolchain's folder. */
export type Workshop = (adapter: string) => Program

/** Why the toolchain cannot be run here. */
export class Missing extends Error {}

const run = promisify(execFile)
const cacheFolder = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'chapar-libraries',
)
export const sourceFolder = (toolchain: Toolchain) => join(import.meta.dirname, toolchain)

const alertmanagerVersion = 'v0.34.2'

const minutes = (count: number) => count * 60_000

interface Options {
  readonly cwd?: string
  readonly timeout?: number
}

/** Builds; resolves with what the tool printed, and rejects with the last of it. */
async function build(
  file: string,
  args: readonly string[],
  options: Options = {},
): Promise<string> {
  const { cwd = import.meta.dirname, timeout = minutes(2.5) } = options
  // Another Go than the machine's would be fetched at times.
  const env = { ...process.env, GOTOOLCHAIN: 'local' }
  try {
    const { stdout } = await run(file, args, { cwd, timeout, env, maxBuffer: 32 << 20 })
    return stdout
  } catch (error) {
    const { stdout, stderr, message, code, killed } = error as ExecFileException
    if (code === 'ENOENT') throw new Missing(`${file} is not installed`)
    const late = killed ? `stopped after ${timeout / 60_000} minutes; ` : ''
    const said = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-8).join(' ')
    throw new Error(`${file} ${args[0]}: ${late}${said || message}`)
  }
}

/** Fetches packages; what cannot be fetched is missing. */
async function fetch(...terms: Parameters<typeof build>): Promise<string> {
  try {
    return await build(...terms)
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

/**
 * The folder of a Python that has the packages of the folder's `requirements.txt`, which may name other such files;
 * rejects with `Missing`.
 */
export async function pythonWith(source: string, named: readonly string[] = []): Promise<string> {
  const name = `python-${await digest(source, ['requirements.txt', ...named])}`
  return cached(name, async (making) => {
    await fetch('python3', ['-m', 'venv', making])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries=1']
    const words = [...pip, '-r', join(source, 'requirements.txt')]
    await fetch(join(making, 'bin/python'), words, { timeout: minutes(9) })
  })
}

/** The folder of a Python package as its authors publish it, tests included; rejects with `Missing`. */
export async function pythonSource(name: string, version: string): Promise<string> {
  return cached(`source-${name}-${version}`, async (making) => {
    const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps']
    const words = [...pip, '--no-binary', name, '--dest', making, `${name}==${version}`]
    await fetch('python3', words, { timeout: minutes(5) })
    const [archive = ''] = await readdir(making)
    await build('tar', ['-xzf', archive, '--strip-components=1'], { cwd: making })
    await rm(join(making, archive))
  })
}

/** The folder of a Go module as its authors publish it, tests included; rejects with `Missing`. */
export async function goSource(module: string, version: string): Promise<string> {
  const words = ['mod', 'download', '-json', `${module}@${version}`]
  return JSON.parse(await fetch('go', words, { timeout: minutes(5) })).Dir
}

const fromPip = (toolchain: Toolchain) => async (): Promise<Workshop> => {
  const source = sourceFolder(toolchain)
  const folder = await pythonWith(source)
  return (adapter) => ({
    command: join(folder, 'bin/python'),
    args: ['-u', join(source, adapter)],
    env: { PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: sourceFolder('python') },
  })
}

/** The folder of the packages that the folder's `package.json` names; rejects with `Missing`. */
export async function nodeWith(source: string): Promise<string> {
  const name = `${basename(source)}-${await digest(source, ['package.json'])}`
  return cached(name, async (making) => {
    await cp(join(source, 'package.json'), join(making, 'package.json'))
    const npm = [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--no-package-lock',
      '--fetch-retries=1',
    ]
    await fetch('npm', npm, { cwd: making, timeout: minutes(9) })
  })
}

const fromNpm = (toolchain: Toolchain) => async (): Promise<Workshop> => {
  const source = sourceFolder(toolchain)
  const folder = await adaptersIn(basename(await nodeWith(source)), source)
  return (adapter) => ({ command: process.execPath, args: [join(folder, adapter)] })
}

/** The folder of the programs of a Go module; rejects with `Missing` where what it needs cannot be had. */
export async function goWith(source: string): Promise<string> {
  return cached(`${basename(source)}-${await digest(source)}`, async (making) => {
    await fetch('go', ['mod', 'download'], { cwd: source, timeout: minutes(5) })
    const words = ['build', '-mod=readonly', '-o', `${making}/`, './...']
    // Some are minutes of work for all processors, and tests that run meanwhile keep time.
    const politely = ['-n', '10', 'go', ...words]
    await build('nice', politely, { cwd: source, timeout: minutes(20) })
  })
}

async function go(): Promise<Workshop> {
  const folder = await goWith(sourceFolder('go'))
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

/** Each library has a project of its own, named after its adapter: their dependencies do not go together. */
async function java(): Promise<Workshop> {
  const source = sourceFolder('java')
  const nameOf = (file: string) => basename(file, extname(file))
  const folder = await cached(`java-${await digest(source)}`, async (making) => {
    await cp(source, making, { recursive: true })
    const options = { cwd: making, timeout: minutes(9) }
    for (const file of (await readdir(source)).filter((file) => extname(file) === '.xml')) {
      const lib = `-DoutputDirectory=target/${nameOf(file)}/lib`
      const project = ['-q', '-B', '-f', file]
      await fetch('mvn', [...project, 'dependency:copy-dependencies', lib], options)
      await build('mvn', [...project, 'compile'], options)
    }
  })
  return (adapter) => {
    const made = join(folder, 'target', nameOf(adapter))
    const path = `${join(made, 'classes')}:${join(made, 'lib')}/*`
    return { command: 'java', args: ['-cp', path, nameOf(adapter)] }
  }
}

/**
 * A folder with the adapters in JavaScript and the protocol, inside the one of their packages: Node.js looks there for
 * what they import. A change of an adapter installs no package again.
 */
async function adaptersIn(name: string, source: string): Promise<string> {
  const protocol = sourceFolder('javascript')
  const digests = [await digest(source), await digest(protocol, ['wire.mjs'])]
  return cached(join(name, `adapters-${digests.join('-')}`), async (making) => {
    await cp(source, making, { recursive: true })
    await cp(join(protocol, 'wire.mjs'), join(making, 'wire.mjs'))
  })
}

/** The module has no built pages of the web interface, and embeds them: its own empty page stands in for them. */
async function alertmanager(): Promise<Workshop> {
  const module = 'github.com/prometheus/alertmanager'
  const name = `alertmanager-${alertmanagerVersion}`
  const built = await cached(name, async (making) => {
    const options = { cwd: making, timeout: minutes(9) }
    const source = await goSource(module, alertmanagerVersion)
    const unpacked = join(making, 'source')
    await build('cp', ['-r', '--no-preserve=mode', source, unpacked])
    const pages = join(unpacked, 'ui/app')
    await cp(join(pages, 'index.html'), join(pages, 'dist/index.html'))
    const told = `-X github.com/prometheus/common/version.Version=${alertmanagerVersion.slice(1)}`
    const words = ['build', '-mod=readonly', '-ldflags', told, '-o', join(making, 'alertmanager')]
    await build('go', [...words, './cmd/alertmanager'], { ...options, cwd: unpacked })
    await rm(unpacked, { recursive: true })
  })
  const folder = await adaptersIn(name, sourceFolder('alertmanager'))
  return (adapter) => ({
    command: process.execPath,
    args: [join(folder, adapter)],
    env: { ALERTMANAGER: join(built, 'alertmanager') },
  })
}

const makers: Readonly<Record<Toolchain, () => Promise<Workshop>>> = {
  python: fromPip('python'),
  // Apart from the others in Python, so that the quick form stays short.
  telegrinder: fromPip('telegrinder'),
  nonebot: fromPip('nonebot'),
  javascript: fromNpm('javascript'),
  go,
  rust,
  java,
  alertmanager,
  'node-red': fromNpm('node-red'),
  n8n: fromNpm('n8n'),
  openclaw: fromNpm('openclaw'),
  hermes: fromPip('hermes'),
  'home-assistant': fromPip('home-assistant'),
}
const made = new Map<Toolchain, Promise<Workshop>>()

/** Rejects with `Missing` where the tools or packages are not to be had. */
export function workshopOf(toolchain: Toolchain): Promise<Workshop> {
  const workshop = made.get(toolchain) ?? makers[toolchain]()
  made.set(toolchain, workshop)
  return workshop
}
