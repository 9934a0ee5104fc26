/** The files of the test network: uploaded in parts, read in ranges, named anew when a reference is too old. */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Long, type tl } from '@mtcute/core'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import type { TelegramNetwork } from './network.ts'

export interface StoredFile {
  readonly id: Long
  readonly size: number
}

export class FileStore {
  readonly #parts = new Map<string, Uint8Array[]>()
  readonly #files = new Map<string, Buffer>()
  readonly documents = new Map<string, tl.RawDocument>()
  nextPoll = 1
  /** For so long each part is on its way, one after the other. */
  millisecondsPerPart = 0
  /** Parts get lost. */
  isDeaf = false
  #taking: Promise<unknown> = Promise.resolve()
  /** How many parts were asked for. */
  reads = 0
  /** From this byte on nobody says anything of a file, or that there is none. */
  silentFrom = Number.POSITIVE_INFINITY
  goneFrom = Number.POSITIVE_INFINITY
  /** References written before it changes are refused. */
  reference = randomBytes(16)
  /** The data centre that has a file, by its id; any has the others. */
  readonly centres = new Map<string, number>()

  /** Undefined: nobody says that it has arrived. */
  async take(id: Long, part: number, bytes: Uint8Array): Promise<true | undefined> {
    if (this.isDeaf) return undefined
    this.#taking = this.#taking.then(() => pause(this.millisecondsPerPart))
    await this.#taking
    this.#put(id, part, bytes)
    return true
  }

  #put(id: Long, part: number, bytes: Uint8Array) {
    const parts = this.#parts.get(id.toString()) ?? []
    parts[part] = bytes
    this.#parts.set(id.toString(), parts)
  }

  /** What was uploaded as one file with an id of its own. */
  finish(id: Long): StoredFile {
    const bytes = Buffer.concat(this.#parts.get(id.toString()) ?? [])
    this.#parts.delete(id.toString())
    return this.add(bytes)
  }

  add(bytes: Buffer): StoredFile {
    const id = new Long(randomBytes(4).readInt32LE(), randomBytes(3).readUIntLE(0, 3))
    this.#files.set(id.toString(), bytes)
    return { id, size: bytes.length }
  }

  read(id: Long): Buffer | undefined {
    return this.#files.get(id.toString())
  }

  expireReferences() {
    this.reference = randomBytes(16)
  }

  /** Refuses whoever asks at another data centre, or has not signed in at this one. */
  assertHere(id: Long, { centre, device }: Origin) {
    const home = this.centres.get(id.toString())
    if (home === undefined) return
    if (home !== centre.id) throw new RpcRefusal(303, `FILE_MIGRATE_${home}`)
    if (device.userId === undefined) throw new RpcRefusal(401, 'AUTH_KEY_UNREGISTERED')
  }
}

export function fileHandlers({ files }: TelegramNetwork): Handlers {
  return {
    'upload.saveFilePart': ({ fileId, filePart, bytes }) => files.take(fileId, filePart, bytes),
    'upload.saveBigFilePart': ({ fileId, filePart, bytes }) => files.take(fileId, filePart, bytes),
    'upload.getFile': ({ location, offset, limit }, origin) => {
      if (!('fileReference' in location) || !('id' in location)) {
        throw new RpcRefusal(400, 'LOCATION_INVALID')
      }
      files.assertHere(location.id, origin)
      if (!Buffer.from(location.fileReference).equals(files.reference)) {
        throw new RpcRefusal(400, 'FILE_REFERENCE_EXPIRED')
      }
      const bytes = files.read(location.id)
      if (!bytes) throw new RpcRefusal(400, 'FILE_ID_INVALID')
      const at = Number(offset)
      files.reads += 1
      if (at >= files.silentFrom) return undefined
      if (at >= files.goneFrom) throw new RpcRefusal(400, 'FILE_ID_INVALID')
      return {
        _: 'upload.file',
        type: { _: 'storage.fileUnknown' },
        mtime: 0,
        bytes: bytes.subarray(at, at + limit),
      }
    },
  }
}
