/** The files of the test network: uploaded in parts, read in ranges, named anew when a reference is too old. */
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Long, type tl } from '@mtcute/core'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import type { TelegramNetwork } from './network.ts'

export interface StoredFile {
  readonly id: Long
  readonly size: number
}

export class FileStore {
  readonly #parts = new Map<string, (Uint8Array | undefined)[]>()
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

  /** What was uploaded as one file with an id of its own; refuses parts that do not belong together. */
  finish(file: tl.TypeInputFile): StoredFile {
    if (file._ === 'inputFileStoryDocument') throw new RpcRefusal(400, 'MEDIA_INVALID')
    const parts = this.#parts.get(file.id.toString()) ?? []
    if (parts.length !== file.parts || parts.includes(undefined)) {
      throw new RpcRefusal(400, 'FILE_PARTS_INVALID')
    }
    const whole = parts.slice(0, -1).every((part) => part?.length === parts[0]?.length)
    if (!whole) throw new RpcRefusal(400, 'FILE_PART_SIZE_CHANGED')
    const bytes = Buffer.concat(parts as Uint8Array[])
    const sum = createHash('md5').update(bytes).digest('hex')
    if (file._ === 'inputFile' && file.md5Checksum && file.md5Checksum !== sum) {
      throw new RpcRefusal(400, 'MD5_CHECKSUM_INVALID')
    }
    if (file._ === 'inputFile' && bytes.length > SMALL_FILE) {
      throw new RpcRefusal(400, 'FILE_PARTS_INVALID')
    }
    this.#parts.delete(file.id.toString())
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
    'upload.saveFilePart': ({ fileId, filePart, bytes }) => {
      assertPart(bytes)
      return files.take(fileId, filePart, bytes)
    },
    'upload.saveBigFilePart': ({ fileId, filePart, fileTotalParts, bytes }) => {
      const isLast = filePart === fileTotalParts - 1
      assertPart(bytes, isLast)
      if (filePart >= fileTotalParts && fileTotalParts >= 0) {
        throw new RpcRefusal(400, 'FILE_PART_INVALID')
      }
      return files.take(fileId, filePart, bytes)
    },
    'upload.getFile': (request, origin) => {
      const { location, offset, limit } = request
      assertRange(request)
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

/** A larger file has to be uploaded as such. */
const SMALL_FILE = 10 * 2 ** 20
const LARGEST_PART = 512 * 1024
const KILOBYTE = 1024
const MEGABYTE = 2 ** 20

/** The last part of a file may have any size. */
function assertPart({ length }: Uint8Array, isLast = true) {
  if (length === 0) throw new RpcRefusal(400, 'FILE_PART_EMPTY')
  if (length > LARGEST_PART) throw new RpcRefusal(400, 'FILE_PART_TOO_BIG')
  const isEven = length % KILOBYTE === 0 && LARGEST_PART % length === 0
  if (!isLast && !isEven) throw new RpcRefusal(400, 'FILE_PART_SIZE_INVALID')
}

/** A client that wants a precise part may begin and end at any kilobyte; none may read across a megabyte. */
function assertRange({ offset, limit, precise }: tl.upload.RawGetFileRequest) {
  const at = Number(offset)
  const step = precise ? KILOBYTE : 4 * KILOBYTE
  if (at % step !== 0) throw new RpcRefusal(400, 'OFFSET_INVALID')
  const isEven = limit > 0 && limit % step === 0 && (precise || MEGABYTE % limit === 0)
  const first = Math.floor(at / MEGABYTE)
  const isWithin = limit <= MEGABYTE && first === Math.floor((at + limit - 1) / MEGABYTE)
  if (!isEven || !isWithin) throw new RpcRefusal(400, 'LIMIT_INVALID')
}
