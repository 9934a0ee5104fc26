/** Reads a range of an encrypted file: a thread decrypts the chunks that cover it, a few at a time. */
import { Readable } from 'node:stream'
import { giveBack, lend } from './give-back.ts'
import type { ObjectStore, SealedBytes } from './object-store.ts'
import type { MediaPool } from './pool.ts'
import {
  CHUNK_BYTES,
  chunksIn,
  SEALED_CHUNK_BYTES,
  sealedSize,
  type UnsealTask,
} from './tasks/chunks.ts'

interface SealedFile {
  readonly object: string
  readonly key: Uint8Array
  /** Of the plain bytes. */
  readonly size: number
}

/** A slow reader keeps so many chunks in memory. */
const CHUNKS_AT_ONCE = 4
const BYTES_AT_ONCE = CHUNKS_AT_ONCE * SEALED_CHUNK_BYTES

interface OpeningOptions {
  readonly store: Pick<ObjectStore, 'read'>
  readonly pool: Pick<MediaPool, 'unseal'>
}

/** `offset` and `length` lie within the file. */
export async function openSealed(
  { store, pool }: OpeningOptions,
  { object, key, size }: SealedFile,
  { offset, length }: { readonly offset: number; readonly length: number },
): Promise<Readable> {
  // Behind the last chunk there is nothing to read, and nothing to ask the store for.
  if (length === 0) return Readable.from([])
  const first = Math.floor(offset / CHUNK_BYTES)
  const last = chunksIn(size) - 1
  const until = Math.floor((offset + length - 1) / CHUNK_BYTES)
  const from = first * SEALED_CHUNK_BYTES
  const to = Math.min((until + 1) * SEALED_CHUNK_BYTES, sealedSize(size))
  const sealed = await store.read(object, { from, length: to - from })
  let unsealing: Promise<unknown> = Promise.resolve()

  async function* plain() {
    let index = first
    let left = length
    for await (const source of piecesOf(sealed, from, to)) {
      const opening = pool.unseal({ source, key, index, last })
      unsealing = opening.catch(() => undefined)
      const opened = await opening
      lend(opened)
      const start = index === first ? offset - first * CHUNK_BYTES : 0
      const part = Buffer.from(opened.buffer).subarray(start, start + left)
      left -= part.length
      index += CHUNKS_AT_ONCE
      if (part.length > 0) yield part
    }
    if (left > 0) throw new Error(`the stored file ${object} is cut off`)
  }
  const stream = Readable.from(plain(), { objectMode: false, highWaterMark: CHUNK_BYTES })
  // A generator that was never begun ends without closing its source. A thread may still read the file.
  return stream.once('close', () => unsealing.then(() => close(sealed)))
}

async function* piecesOf(
  sealed: SealedBytes,
  from: number,
  to: number,
): AsyncGenerator<UnsealTask['source']> {
  if (sealed instanceof Readable) return yield* inPieces(sealed)
  for (let position = from; position < to; position += BYTES_AT_ONCE) {
    yield { fd: sealed.fd, position, length: Math.min(BYTES_AT_ONCE, to - position) }
  }
}

async function close(sealed: SealedBytes): Promise<void> {
  if (sealed instanceof Readable) sealed.destroy()
  // Bytes that were read are delivered, whatever closing says.
  else await sealed.close().catch(() => undefined)
}

/** The same bytes in pieces of whole chunks, each in memory of its own; the last one may be shorter. */
async function* inPieces(sealed: Readable): AsyncGenerator<Uint8Array> {
  let held: Buffer[] = []
  let bytes = 0
  for await (const piece of sealed) {
    held.push(piece as Buffer)
    bytes += (piece as Buffer).length
    if (bytes < BYTES_AT_ONCE) continue
    const whole = held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held)
    let at = 0
    for (; at + BYTES_AT_ONCE <= bytes; at += BYTES_AT_ONCE) {
      yield new Uint8Array(whole.subarray(at, at + BYTES_AT_ONCE))
    }
    held = at < bytes ? [whole.subarray(at)] : []
    if (at === bytes) giveBack(whole)
    bytes -= at
  }
  if (bytes > 0) yield new Uint8Array(Buffer.concat(held))
}
