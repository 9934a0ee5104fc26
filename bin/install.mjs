/** Installs the locked packages when node_modules is missing or belongs to another lockfile. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
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

/** npm writes its own record last, so an interrupted install is found as well. */
function mismatch(root, needsDevelopment) {
  const installed = packagesIn(join(root, 'node_modules', '.package-lock.json'))
  if (installed === undefined) return 'nothing is installed yet'
  const locked = Object.entries(packagesIn(join(root, 'package-lock.json')) ?? {})
  const wrong = locked.find(([path, entry]) => {
    if (path === '' || entry.optional || entry.devOptional) return false
    if (entry.dev && !needsDevelopment) return false
    return installed[path]?.version !== entry.version
  })
  return wrong && `${wrong[0]} is not at the locked version ${wrong[1].version}`
}

/**
 * Install scripts stay off: no package of ours needs one, and the embedded database makes its
 * library links itself.
 *
 * @param {string} root
 * @param {{ development: boolean }} needs
 */
export function installWhatIsMissing(root, needs) {
  const reason = mismatch(root, needs.development)
  if (reason === undefined) return
  // Its warnings are of the Node.js that npm runs on, which is not the one that runs the packages.
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  if (needs.development) args.push('--include=dev')
  process.stderr.write(`chapar: ${reason}; running npm ${args.join(' ')}\n`)
  const windows = process.platform === 'win32'
  // npm's report goes to stderr, so that stdout stays the output of the command itself.
  const npm = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2], shell: windows })
  if (npm.error) throw new Error(`npm could not be run: ${npm.error.message}`)
  if (npm.status !== 0) throw new Error(`npm ci failed with exit code ${npm.status}`)
}
