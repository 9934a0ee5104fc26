/** How files lie encrypted: in chunks that open alone; and the worker tasks that encrypt and decrypt them. */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { closeSync, openSync, readSync, writeFileSync, writevSync } from 'node:fs'
import { move } from 'piscina'
import { giveBack } from '../give-back.ts'

const ALGORITHM = 'aes-256-gcm'
const TAG_BYTES = 16
const tagged = { authTagLength: TAG_BYTES }

export const CHUNK_BYTES = 65_536
export const SEALED_CHUNK_BYTES = CHUNK_BYTES + TAG_BYTES

/** The number of chunks that are encrypted at a time and share a digest. */
export const SEGMENT_CHUNKS = 16
export const SEGMENT_BYTES = SEGMENT_CHUNKS * CHUNK_BYTES

/** An empty file has one empty chunk, so that it differs from a lost file. */
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

export interface SealTask {
  /** The plain bytes, or the file that has them at the same segment. */
  readonly source: Uint8Array | string
  readonly length: number
  /** Exists already. */
  readonly target: string
  readonly key: Uint8Array
  readonly digestKey: Uint8Array
  readonly segment: number
  /** Whether the file ends with this segment. */
  readonly isLast: boolean
}

/** Blocks its thread, which has nothing else to do. Throws when the source is shorter than was said. */
export function seal({ source, length, target, key, digestKey, segment, isLast }: SealTask) {
  const isFile = typeof source === 'string'
  const buffer = isFile ? Buffer.alloc(length) : source
  if (isFile) fill(source, buffer, segment * SEGMENT_CHUNKS * CHUNK_BYTES)
  const cipher = new ChunkCipher(key)
  const first = segment * SEGMENT_CHUNKS
  const parts: Buffer[] = []
  let index = first
  for (let at = 0; at < length || parts.length === 0; at += CHUNK_BYTES) {
    const isEnd = isLast && at + CHUNK_BYTES >= length
    const chunk = buffer.subarray(at, Math.min(at + CHUNK_BYTES, length))
    parts.push(...cipher.seal(index++, isEnd, chunk))
  }
  writeAll(target, parts, first * SEALED_CHUNK_BYTES)
  for (const part of parts) giveBack(part)
  const digest = digestOf(buffer.subarray(0, length), digestKey)
  if (isFile) giveBack(buffer)
  return digest
}

const ALWAYS_THE_SAME = Buffer.alloc(12)

/**
 * Equal for equal bytes, and for no other bytes that are found without the key: GMAC, which takes a tenth of the time of SHA-256.
 * It shares one nonce among all segments, so a digest may be compared, and hashed with another key, but never shown.
 */
function digestOf(bytes: Uint8Array, key: Uint8Array): Buffer {
  const mac = createCipheriv(ALGORITHM, createSecretKey(key), ALWAYS_THE_SAME, tagged)
  mac.setAAD(bytes)
  mac.final()
  return mac.getAuthTag()
}

function fill(path: string, buffer: Uint8Array, position: number): void {
  const file = openSync(path, 'r')
  try {
    for (let filled = 0; filled < buffer.length; ) {
      const count = readSync(file, buffer, filled, buffer.length - filled, position + filled)
      if (count === 0) throw new Error('the file became shorter')
      filled += count
    }
  } finally {
    closeSync(file)
  }
}

/** The system may take less than it is given, as on a disk that is nearly full. */
function writeAll(path: string, parts: readonly Buffer[], position: number): void {
  const file = openSync(path, 'r+')
  try {
    let left = [...parts]
    let at = position
    while (left.length > 0) {
      let written = writevSync(file, left, at)
      at += written
      while (left[0] && written >= left[0].length) written -= left.shift()?.length ?? 0
      if (left[0] && written > 0) left = [left[0].subarray(written), ...left.slice(1)]
    }
  } finally {
    closeSync(file)
  }
}

interface FileRange {
  readonly fd: number
  readonly position: number
  readonly length: number
}

export interface UnsealTask {
  /** Encrypted bytes, or where an open file has them. */
  readonly source: Uint8Array | FileRange
  readonly key: Uint8Array
  /** The index of the first chunk in `source`. */
  readonly index: number
  /** The index of the last chunk of the whole file. */
  readonly last: number
}

/** Plain bytes; fewer than asked for when the file ends early. Throws when anything was changed. */
export const unseal = (task: UnsealTask): Uint8Array => move(plainOf(task)) as Uint8Array

export interface UnsealFileTask {
  readonly path: string
  readonly key: Uint8Array
  /** The number of plain bytes. */
  readonly size: number
  /** Does not exist yet. */
  readonly target: string
}

/** Blocks its thread, which has nothing else to do. */
export function unsealFile({ path, key, size, target }: UnsealFileTask): void {
  const last = chunksIn(size) - 1
  const from = openSync(path, 'r')
  const to = openSync(target, 'wx', 0o600)
  try {
    for (let index = 0; index <= last; index += SEGMENT_CHUNKS) {
      const position = index * SEALED_CHUNK_BYTES
      const length = Math.min(SEGMENT_CHUNKS * SEALED_CHUNK_BYTES, sealedSize(size) - position)
      writeFileSync(to, plainOf({ source: { fd: from, position, length }, key, index, last }))
    }
  } finally {
    closeSync(from)
    closeSync(to)
  }
}

function plainOf({ source, key, index, last }: UnsealTask): Uint8Array {
  const sealed = source instanceof Uint8Array ? source : read(source)
  const cipher = new ChunkCipher(key)
  const plain = new Uint8Array(plainSize(sealed.length))
  for (let at = 0, filled = 0, place = index; at < sealed.length; at += SEALED_CHUNK_BYTES) {
    const length = Math.min(SEALED_CHUNK_BYTES, sealed.length - at)
    const chunk = Buffer.from(sealed.buffer, sealed.byteOffset + at, length)
    const opened = cipher.open(place, place === last, chunk)
    plain.set(opened, filled)
    filled += opened.length
    place++
    giveBack(opened)
  }
  giveBack(sealed)
  return plain
}

const plainSize = (sealed: number): number =>
  Math.max(0, sealed - Math.ceil(sealed / SEALED_CHUNK_BYTES) * TAG_BYTES)

function read({ fd, position, length }: FileRange): Uint8Array {
  const buffer = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(fd, buffer, filled, length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return buffer.subarray(0, filled)
}
