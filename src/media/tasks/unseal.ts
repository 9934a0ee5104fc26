/** Worker tasks: decrypt some chunks of a file, or all of it into another file. */
import { closeSync, openSync, readSync, writeFileSync } from 'node:fs'
import { move } from 'piscina'
import {
  CHUNK_BYTES,
  ChunkCipher,
  chunksIn,
  SEALED_CHUNK_BYTES,
  SEGMENT_CHUNKS,
  sealedSize,
} from '../chunks.ts'
import { giveBack } from '../give-back.ts'

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
  /** Of the plain bytes. */
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

const TAG_BYTES = SEALED_CHUNK_BYTES - CHUNK_BYTES

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
