/** Encrypts files by several threads, a segment at a time, and reads a range of an encrypted file. */
import { createHash } from 'node:crypto'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { giveBack, giveBackLent, lend } from './give-back.ts'
import type { ObjectStore, SealedBytes } from './object-store.ts'
import type { MediaPool } from './pool.ts'
import {
  CHUNK_BYTES,
  chunksIn,
  SEALED_CHUNK_BYTES,
  SEGMENT_BYTES,
  type SealTask,
  sealedSize,
  type UnsealTask,
} from './tasks/chunks.ts'

interface Sealed {
  readonly size: number
  /** A hash of the segments' digests: equal for equal bytes under the same `digestKey`. */
  readonly digest: string
}

interface SealingOptions {
  readonly pool: Pick<MediaPool, 'run'>
  /** On the disk once this resolves. */
  readonly target: string
  readonly key: Uint8Array
  /** The same for all files that are compared by their digests. */
  readonly digestKey: Uint8Array
}

/** Segments in progress at once: more would delay the files of others. */
const LANES = 2
/** The file is flushed after so many bytes, so that the last flush is short. */
const FLUSH_BYTES = 8 * SEGMENT_BYTES

export async function sealFile(
  source: string,
  options: SealingOptions,
  signal: AbortSignal,
): Promise<Sealed> {
  const { size } = await stat(source)
  await using target = await Target.open(options)
  for (let at = 0; at < size || at === 0; at += SEGMENT_BYTES) {
    signal.throwIfAborted()
    const length = Math.min(SEGMENT_BYTES, size - at)
    await target.add(source, length, at + length === size)
  }
  return await target.finish()
}

/** Encrypts what comes in pieces. */
export class Sealing implements AsyncDisposable {
  readonly #target: Target
  /** One segment is being filled while the threads work on the others. */
  readonly #free: Buffer[] = []
  #segment = shared(SEGMENT_BYTES)
  #filled = 0
  #last: Buffer | undefined

  private constructor(target: Target) {
    this.#target = target
  }

  static async begin(options: SealingOptions): Promise<Sealing> {
    return new Sealing(await Target.open(options))
  }

  /** Copies the piece. The next one has to wait for the promise, if there is one. */
  add(piece: Buffer): Promise<void> | undefined {
    // The bytes come in order, so earlier bytes are not read after a piece from other memory.
    if (this.#last && this.#last.buffer !== piece.buffer) giveBackLent(this.#last)
    this.#last = piece
    const room = SEGMENT_BYTES - this.#filled
    const part = piece.length > room ? piece.subarray(0, room) : piece
    const end = this.#filled + part.length
    // `set` writes to shared memory eight bytes at a time.
    this.#segment.fill(part, this.#filled, end)
    this.#filled = end
    return part === piece ? undefined : this.#addRest(piece.subarray(room))
  }

  async finish(): Promise<Sealed> {
    await this.#hand(true)
    return await this.#target.finish()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#target[Symbol.asyncDispose]()
  }

  async #addRest(rest: Buffer): Promise<void> {
    await this.#hand(false)
    this.#segment = this.#free.pop() ?? shared(SEGMENT_BYTES)
    this.#filled = 0
    await this.add(rest)
  }

  #hand(isLast: boolean): Promise<void> {
    const segment = this.#segment
    return this.#target.add(segment, this.#filled, isLast, () => this.#free.push(segment))
  }
}

/** Shared with the threads, so that no bytes are copied. */
const shared = (bytes: number): Buffer => Buffer.from(new SharedArrayBuffer(bytes))

class Target implements AsyncDisposable {
  readonly #options: SealingOptions
  readonly #file: FileHandle
  readonly #sealing = new Set<Promise<void>>()
  readonly #digests: Uint8Array[] = []
  #flushing: Promise<void> | undefined
  #failure: { readonly cause: unknown } | undefined
  #segments = 0
  #size = 0
  #unflushed = 0

  private constructor(file: FileHandle, options: SealingOptions) {
    this.#file = file
    this.#options = options
  }

  static async open(options: SealingOptions): Promise<Target> {
    return new Target(await open(options.target, 'wx', 0o600), options)
  }

  /** Resolves once a thread may take it; `onDone` says that the bytes are not needed any more. */
  async add(
    source: SealTask['source'],
    length: number,
    isLast: boolean,
    onDone?: () => void,
  ): Promise<void> {
    while (this.#sealing.size >= LANES) await Promise.race(this.#sealing)
    this.#throwFailure()
    const { pool, target, key, digestKey } = this.#options
    const segment = this.#segments++
    this.#size += length
    const task = { source, length, target, key, digestKey, segment, isLast }
    const sealing = pool
      .run('seal', task)
      .then((digest) => {
        this.#digests[segment] = digest
        onDone?.()
      }, this.#fail)
      .finally(() => this.#sealing.delete(sealing))
    this.#sealing.add(sealing)
    this.#flush(length)
  }

  async finish(): Promise<Sealed> {
    await this.#end()
    this.#throwFailure()
    await this.#file.sync()
    const hash = createHash('sha256')
    for (const digest of this.#digests) hash.update(digest)
    return { size: this.#size, digest: hash.digest('hex') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end()
    await this.#file.close()
  }

  /** Waits for threads that still write to the file. */
  async #end(): Promise<void> {
    await Promise.all([...this.#sealing, this.#flushing])
  }

  #flush(bytes: number): void {
    this.#unflushed += bytes
    if (this.#unflushed < FLUSH_BYTES || this.#flushing) return
    this.#unflushed = 0
    this.#flushing = this.#file
      .datasync()
      .catch(this.#fail)
      .finally(() => {
        this.#flushing = undefined
      })
  }

  /** Passes the failure on to the next `add` or `finish`. */
  readonly #fail = (cause: unknown): void => {
    this.#failure ??= { cause }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.cause
  }
}

interface SealedFile {
  readonly object: string
  readonly key: Uint8Array
  /** The number of plain bytes. */
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
  // A failure to close does not matter once the bytes are read.
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
