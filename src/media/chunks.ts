/** How files lie encrypted: in chunks that open alone, so that a part is read without the whole. */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const TAG_BYTES = 16
const tagged = { authTagLength: TAG_BYTES }

export const CHUNK_BYTES = 65_536
export const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES

/** What is encrypted at a time, and has a digest of its own. */
export const SEGMENT_CHUNKS = 16
export const SEGMENT_BYTES = SEGMENT_CHUNKS * CHUNK_BYTES

/** An empty file has one empty chunk, so that it too can be told from a lost one. */
export const chunksIn = (size: number): number => Math.max(1, Math.ceil(size / CHUNK_BYTES))

export const sealedSize = (size: number): number => size + chunksIn(size) * TAG_BYTES

/**
 * One for each key, and a key for each writing: then a chunk's place may be its nonce. The last chunk is marked, so
 * that chunks can be neither moved nor cut off.
 */
export class ChunkCipher {
  readonly #key: KeyObject

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key)
  }

  seal(index: number, isLast: boolean, chunk: Uint8Array): readonly [body: Buffer, tag: Buffer] {
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce(index, isLast), tagged)
    const body = cipher.update(chunk)
    cipher.final()
    return [body, cipher.getAuthTag()]
  }

  /** Throws when anything was changed. */
  open(index: number, isLast: boolean, sealed: Buffer): Buffer {
    const decipher = createDecipheriv(ALGORITHM, this.#key, nonce(index, isLast), tagged)
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    const chunk = decipher.update(sealed.subarray(0, -TAG_BYTES))
    decipher.final()
    return chunk
  }
}

function nonce(index: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUIntBE(index, 5, 6)
  bytes[11] = isLast ? 1 : 0
  return bytes
}
