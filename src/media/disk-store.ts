/** Encrypted files on this machine's disk: complete under their name, or not there at all. */
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ObjectMissing, type ObjectStore } from './object-store.ts'

/** Names are our own and lie in 256 folders; anything else would be a way out of them. */
const ours = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

export class DiskStore implements ObjectStore {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The file is flushed to the disk already, and on the same one. */
  async put(object: string, path: string): Promise<void> {
    const place = this.#place(object)
    const folder = dirname(place)
    const created = await mkdir(folder, { recursive: true, mode: 0o700 })
    await rename(path, place)
    await flushFolder(folder)
    if (created) await flushFolder(dirname(folder))
  }

  async read(object: string): Promise<FileHandle> {
    return await open(this.#place(object)).catch((cause) => {
      throw cause.code === 'ENOENT' ? new ObjectMissing(object, { cause }) : cause
    })
  }

  async delete(object: string): Promise<void> {
    await rm(this.#place(object), { force: true })
  }

  #place(object: string): string {
    if (!ours.test(object)) throw new Error('this is no name of an object')
    return join(this.#folder, object.slice(0, 2), object)
  }
}

/** A new name is durable once its folder is. Windows has no such thing and needs none. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  await using handle = await open(folder)
  await handle.sync()
}
