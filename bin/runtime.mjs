/** Finds a Node.js that runs TypeScript directly: the host's if new enough, else the pinned one. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** 24.3 is the first release that strips types without a warning. */
const oldest = { major: 24, minor: 3 }

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor)
}

/** @param {string} root */
export function findRuntime(root) {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  const pinned = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', name)
  if (existsSync(pinned)) return pinned
  if (isNewEnough(process.versions.node)) return process.execPath
  throw new Error(
    `Node.js ${oldest.major}.${oldest.minor} or newer is needed. This is ${process.version}, and ` +
      `no pinned copy exists for ${process.platform}-${process.arch}: please install Node.js ${oldest.major}.`,
  )
}
