/** Finds ffmpeg and ffprobe, and confines programs that work on hostile bytes: limits of the system, and bubblewrap's walls. */
import { access, constants, realpath } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { run } from './child.ts'

export interface Tools {
  readonly ffmpeg: string
  readonly ffprobe: string
}

/** Undefined unless both programs are found. */
export async function findTools(searchPath: string): Promise<Tools | undefined> {
  const [ffmpeg, ffprobe] = await Promise.all(
    ['ffmpeg', 'ffprobe'].map((name) => find(name, searchPath)),
  )
  return ffmpeg && ffprobe ? { ffmpeg, ffprobe } : undefined
}

async function find(name: string, searchPath: string): Promise<string | undefined> {
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

export interface Needs {
  /** Files that may be read. */
  readonly reads: readonly string[]
  /** A file that may be written; its folder must exist. */
  readonly writes?: string
  readonly cpuSeconds: number
  readonly memoryBytes: number
  readonly fileBytes: number
}

interface Command {
  readonly program: string
  readonly args: readonly string[]
}

export interface Confinement {
  /** Whether files other than those named in `Needs` are out of reach. */
  readonly hidesFiles: boolean
  command(program: string, args: readonly string[], needs: Needs): Command
}

const SHELL = '/bin/sh'
const NICENESS = 5
const OPEN_FILES = 64

/**
 * Limits that the system does not support are left out. Where memory ends, Linux ends this program and not the service.
 * `exec` avoids a second process.
 */
const LIMITED = `ulimit -c 0
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null || :
ulimit -t "$1" 2>/dev/null || :
ulimit -v "$2" 2>/dev/null || :
ulimit -f "$3" 2>/dev/null || :
ulimit -n ${OPEN_FILES} 2>/dev/null || :
shift 3
exec nice -n ${NICENESS} "$@"`

/** Folders of programs and libraries, without folders in which operators keep data. */
const SYSTEM = [
  '/bin',
  '/lib',
  '/lib32',
  '/lib64',
  '/usr/bin',
  '/usr/lib',
  '/usr/lib32',
  '/usr/lib64',
  '/usr/local/bin',
  '/usr/local/lib',
  '/etc/alternatives',
  '/etc/ld.so.cache',
  '/nix/store',
]

const unlimited: Confinement = {
  hidesFiles: false,
  command: (program, args) => ({ program, args }),
}

const limited: Confinement = {
  hidesFiles: false,
  command: (program, args, needs) => withLimits([program, ...args], needs),
}

/** Runs bubblewrap once, because many containers have it installed but do not permit it to work. */
export async function findConfinement(tools: Tools, searchPath: string): Promise<Confinement> {
  if (process.platform === 'win32' || !(await isThere(SHELL))) return unlimited
  const bubblewrap = await find('bwrap', searchPath)
  if (!bubblewrap) return limited
  const hidden = await hiding(bubblewrap, Object.values(tools))
  const { program, args } = hidden.command(tools.ffmpeg, ['-version'], trial)
  const { succeeded } = await run(program, args, { takes: 10_000, signal: noSignal })
  return succeeded ? hidden : limited
}

const trial: Needs = { reads: [], cpuSeconds: 10, memoryBytes: 2 ** 30, fileBytes: 0 }
const noSignal = new AbortController().signal

async function hiding(bubblewrap: string, programs: readonly string[]): Promise<Confinement> {
  const real = await Promise.all(programs.map((program) => realpath(program)))
  const visible = [...SYSTEM, ...programs, ...real].flatMap((path) => ['--ro-bind-try', path, path])
  const walls = ['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL']
  const system = [...walls, '--dev', '/dev', '--tmpfs', '/tmp', ...visible]
  return {
    hidesFiles: true,
    command(program, args, needs) {
      const { reads, writes } = needs
      const folder = writes === undefined ? [] : ['--bind', dirname(writes), dirname(writes)]
      // The files come after the folder, which may hold them: they stay read-only.
      const files = reads.flatMap((path) => ['--ro-bind', path, path])
      const inside = ['--chdir', '/', '--', program, ...args]
      return withLimits([bubblewrap, ...system, ...folder, ...files, ...inside], needs)
    },
  }
}

function withLimits(command: readonly string[], needs: Needs): Command {
  const kibibytes = Math.ceil(needs.memoryBytes / 1_024)
  const blocks = Math.ceil(needs.fileBytes / 512)
  const limits = [Math.ceil(needs.cpuSeconds), kibibytes, blocks].map(String)
  return { program: SHELL, args: ['-c', LIMITED, 'sh', ...limits, ...command] }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
