/** Builds the web panel when there is no build of the present sources. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const compressible = /\.(js|css|html|svg)$/

/** @param {string} folder */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
}

/** What the build is made from: its sources and the versions of all packages. */
function fingerprint(root) {
  const hash = createHash('sha256')
  for (const file of [...filesIn(join(root, 'src', 'panel')), join(root, 'package-lock.json')]) {
    hash.update(file.slice(root.length)).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

function builtFrom(stamp) {
  try {
    return readFileSync(stamp, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Built aside and then put in place whole: a service that starts meanwhile reads the one or the other.
 *
 * @param {string} root
 * @param {string} runtime the Node.js to build with
 */
export function buildPanelWhenStale(root, runtime) {
  const output = join(root, 'dist', 'panel')
  const sources = fingerprint(root)
  if (builtFrom(join(output, '.built-from')) === sources) return
  process.stderr.write('chapar: building the panel\n')
  const aside = `${output}-${process.pid}`
  try {
    bundle(root, runtime, aside)
    writeFileSync(join(aside, '.built-from'), sources)
    putInPlace(aside, output, sources)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

const TRIES = 10

/** Others may do the same at the same moment: nothing is ever half there, and of the same sources one build is enough. */
function putInPlace(aside, output, sources) {
  for (let left = TRIES; builtFrom(join(output, '.built-from')) !== sources; left--) {
    moveAway(output, `${aside}-old`)
    try {
      // Another process that moves it away at the same time puts an equal build there.
      return renameSync(aside, output)
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code) || left === 0) throw error
    }
  }
}

function moveAway(output, elsewhere) {
  try {
    renameSync(output, elsewhere)
  } catch (error) {
    if (error.code === 'ENOENT') return
    throw error
  }
  rmSync(elsewhere, { recursive: true, force: true })
}

function bundle(root, runtime, output) {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const options = ['--outDir', output, '--emptyOutDir', '--logLevel', 'error']
  const args = [vite, 'build', join(root, 'src', 'panel'), ...options]
  const build = spawnSync(runtime, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (build.error) throw new Error(`the panel could not be built: ${build.error.message}`)
  if (build.status !== 0) throw new Error(`building the panel failed with code ${build.status}`)
  for (const file of filesIn(output).filter((name) => compressible.test(name))) {
    const content = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(content))
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
  }
}
