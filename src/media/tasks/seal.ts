/** Worker task: encrypts a segment into its place in a file, and takes its digest on the way. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, writevSync } from 'node:fs'
import { CHUNK_BYTES, ChunkCipher, SEALED_CHUNK_BYTES, SEGMENT_CHUNKS } from '../chunks.ts'
import { giveBack } from '../give-back.ts'

export interface SealTask {
  /** The plain bytes, or the file that has them at the same segment. */
  readonly source: Uint8Array | string
  readonly length: number
  /** Exists already. */
  readonly target: string
  readonly key: Uint8Array
  readonly segment: number
  /** Whether the file ends with this segment. */
  readonly isLast: boolean
}

/** Blocks its thread, which has nothing else to do. Throws when the source is shorter than was said. */
export function seal({ source, length, target, key, segment, isLast }: SealTask): Buffer {
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
  const digest = createHash('sha256').update(buffer.subarray(0, length)).digest()
  if (isFile) giveBack(buffer)
  return digest
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
