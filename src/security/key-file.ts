/** The file of key-encryption keys: one a line in base64, the first encrypts, all decrypt. */
import { createHash, randomBytes } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { makeFolder } from '../config/data-folder.ts'
import type { Log } from '../database/log.ts'

const KEY_BYTES = 32
const READABLE_BY_OTHERS = 0o077

export interface Kek {
  /** Derived from the key, so that the file needs no names and cannot mix them up. */
  readonly id: string
  readonly key: Buffer
}

const kek = (key: Buffer): Kek => ({
  id: createHash('sha256').update('kek id').update(key).digest('hex').slice(0, 16),
  key,
})

export async function readKeyFile(path: string, log: Log): Promise<readonly Kek[] | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const { mode } = await stat(path)
  if (process.platform !== 'win32' && mode & READABLE_BY_OTHERS) {
    log.warn({ path, mode: (mode & 0o777).toString(8) }, 'the key file is open to other users')
  }
  return parseKeyFile(text)
}

export function parseKeyFile(text: string): readonly Kek[] {
  const lines = text.split('\n').map((line) => line.trim())
  const keys = lines.filter((line) => line && !line.startsWith('#'))
  if (keys.length === 0) throw new Error('the key file holds no key')
  return keys.map((line, index) => {
    const key = Buffer.from(line, 'base64')
    if (key.length !== KEY_BYTES) throw new Error(`key ${index + 1} of the key file is malformed`)
    return kek(key)
  })
}

/** Never overwrites: of two nodes starting at once, one writes and the other fails. */
export async function createKeyFile(path: string): Promise<readonly Kek[]> {
  const key = randomBytes(KEY_BYTES)
  await makeFolder(dirname(resolve(path)))
  await writeFile(path, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  return [kek(key)]
}
