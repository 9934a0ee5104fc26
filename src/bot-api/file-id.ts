/** file_id: the name by which a client keeps a file. It is signed, so that it opens only files of its own account. */
import {
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'
import type { MediaKind } from '../../machines/model/media.ts'

/** A kind's place in this list is its number in the ids that clients keep: only ever append. */
const KINDS = [
  'photo',
  'video',
  'animation',
  'audio',
  'voice',
  'video_note',
  'document',
  'sticker',
  'thumbnail',
] as const satisfies readonly (MediaKind | 'thumbnail')[]

export type FileKind = (typeof KINDS)[number]

export interface NamedFile {
  readonly kind: FileKind
  readonly native: string
  /** The network's own name for the bytes, where it has one beside `native`. */
  readonly unique?: string
}

const VERSION = 1
const SEAL_BYTES = 10
const UNIQUE_BYTES = 12

export class FileIds {
  readonly #secret: KeyObject

  constructor(secret: Buffer) {
    // Made once: an HMAC by the bare bytes takes several times as long.
    this.#secret = createSecretKey(secret)
  }

  /** base64url of version, kind, names and seal; the same file always has the same id. */
  write(credentialId: number, { kind, native, unique }: NamedFile): string {
    const names = unique === undefined ? native : `${native}\0${unique}`
    const body = Buffer.concat([Buffer.from([VERSION, KINDS.indexOf(kind)]), Buffer.from(names)])
    return Buffer.concat([body, this.#seal(credentialId, body)]).toString('base64url')
  }

  /** Undefined for text that is no file_id of this credential. */
  read(credentialId: number, fileId: string): NamedFile | undefined {
    const bytes = Buffer.from(fileId, 'base64url')
    if (bytes.length <= 2 + SEAL_BYTES || bytes[0] !== VERSION) return undefined
    const body = bytes.subarray(0, -SEAL_BYTES)
    const kind = KINDS[body[1] ?? KINDS.length]
    const isOurs = timingSafeEqual(bytes.subarray(-SEAL_BYTES), this.#seal(credentialId, body))
    if (!kind || !isOurs) return undefined
    const [native = '', unique] = body.subarray(2).toString().split('\0')
    return { kind, native, ...(unique !== undefined && { unique }) }
  }

  #seal(credentialId: number, body: Buffer): Buffer {
    const seal = createHmac('sha256', this.#secret).update(`${credentialId}|`).update(body).digest()
    return seal.subarray(0, SEAL_BYTES)
  }
}

/** file_unique_id: the same for everybody who sees the file. */
export const uniqueFileId = (unique: string): string =>
  createHash('sha256').update(unique).digest().subarray(0, UNIQUE_BYTES).toString('base64url')
