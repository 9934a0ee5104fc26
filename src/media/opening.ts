/** Reads a range of an encrypted file: only the chunks that cover it are fetched and decrypted. */
import { Readable } from 'node:stream'
import { CHUNK_BYTES, ChunkCipher, chunksIn, SEALED_CHUNK_BYTES, sealedSize } from './chunks.ts'
import { giveBack, lend } from './give-back.ts'
import type { ObjectStore } from './object-store.ts'

export interface SealedFile {
  readonly object: string
  readonly key: Uint8Array
  /** Of the plain bytes. */
  readonly size: number
}

/** `offset` and `length` lie within the file. */
export async function openSealed(
  store: Pick<ObjectStore, 'read'>,
  { object, key, size }: SealedFile,
  { offset, length }: { readonly offset: number; readonly length: number },
): Promise<Readable> {
  // Behind the last chunk there is nothing to read, and nothing to ask the store for.
  if (length === 0) return Readable.from([])
  const first = Math.floor(offset / CHUNK_BYTES)
  const last = chunksIn(size) - 1
  const until = Math.floor((offset + length - 1) / CHUNK_BYTES)
  const from = first * SEALED_CHUNK_BYTES
  const sealed = await store.read(object, {
    from,
    length: Math.min((until + 1) * SEALED_CHUNK_BYTES, sealedSize(size)) - from,
  })
  const cipher = new ChunkCipher(key)

  async function* plain() {
    let index = first
    let left = length
    for await (const chunk of inChunks(sealed)) {
      const opened = cipher.open(index, index === last, chunk)
      lend(opened)
      const start = index === first ? offset - first * CHUNK_BYTES : 0
      const part = opened.subarray(start, start + left)
      left -= part.length
      index++
      if (part.length > 0) yield part
    }
    if (left > 0) throw new Error(`the stored file ${object} is cut off`)
  }
  const stream = Readable.from(plain(), { objectMode: false, highWaterMark: CHUNK_BYTES })
  // A generator that was never begun ends without letting go of what it would have read.
  return stream.once('close', () => sealed.destroy())
}

/** The same bytes in pieces of a sealed chunk each; the last one may be shorter. */
async function* inChunks(sealed: Readable): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  for await (const piece of sealed) {
    held.push(piece as Buffer)
    bytes += (piece as Buffer).length
    if (bytes < SEALED_CHUNK_BYTES) continue
    const whole = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held)
    let at = 0
    for (; at + SEALED_CHUNK_BYTES <= bytes; at += SEALED_CHUNK_BYTES) {
      yield whole.subarray(at, at + SEALED_CHUNK_BYTES)
    }
    held = at < bytes ? [whole.subarray(at)] : []
    if (at === bytes) giveBack(whole)
    bytes -= at
  }
  if (bytes > 0) yield Buffer.concat(held)
}
