/** Installs the locked packages when node_modules is missing or belongs to another lockfile. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @param {string} file */
function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {}
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** What every machine needs: of the rest npm takes what fits the machine. */
function needed(root, needsDevelopment) {
  return Object.entries(packagesIn(join(root, 'package-lock.json')) ?? {}).filter(
    ([path, { optional, devOptional, dev }]) =>
      path !== '' && !optional && !devOptional && (needsDevelopment || !dev),
  )
}

/** npm writes its own record last, so an interrupted install is found as well. */
function mismatch(root, needsDevelopment) {
  const installed = packagesIn(join(root, 'node_modules', '.package-lock.json'))
  if (installed === undefined) return 'nothing is installed yet'
  const wrong = needed(root, needsDevelopment).find(
    ([path, { version }]) => installed[path]?.version !== version,
  )
  return wrong && `${wrong[0]} is not at the locked version ${wrong[1].version}`
}

/** npm is silent while it works, and the first time that takes minutes. */
function tellProgress(root, needs, say, everyMs) {
  const paths = needed(root, needs.development).map(([path]) => join(root, path, 'package.json'))
  const began = performance.now()
  return setInterval(() => {
    const there = paths.filter((path) => existsSync(path)).length
    const seconds = Math.round((performance.now() - began) / 1000)
    say(`installing: ${there} of ${paths.length} packages after ${seconds} s`)
  }, everyMs)
}

/**
 * Install scripts stay off: no package of ours needs one, and the embedded database makes its
 * library links itself.
 *
 * @param {string} root
 * @param {{ development: boolean }} needs
 * @param {(line: string) => void} say
 */
export async function installWhatIsMissing(root, needs, say, progressMs = 5_000) {
  const reason = mismatch(root, needs.development)
  if (reason === undefined) return
  // Its warnings are of the Node.js that npm runs on, which is not the one that runs the packages.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  if (needs.development) args.push('--include=dev')
  say(`${reason}; running npm ${args.join(' ')}, which the first time takes a minute or two`)
  const shell = process.platform === 'win32'
  // npm's report goes to stderr, so that stdout stays the output of the command itself.
  const npm = spawn('npm', args, { cwd: root, stdio: ['ignore', 2, 2], shell })
  const progress = tellProgress(root, needs, say, progressMs)
  try {
    const [status] = await once(npm, 'exit')
    if (status !== 0) throw new Error(`npm ci failed with exit code ${status}`)
  } catch (error) {
    if (error.syscall === undefined) throw error
    throw new Error(`npm could not be run: ${error.message}`)
  } finally {
    clearInterval(progress)
  }
}
