/** Receives files: those that need no inspection are encrypted on the way, others stay unencrypted for a moment. */
import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import type { Vault } from '../security/vault.ts'
import { isLookedInto, mimeOf } from './formats.ts'
import type { SealedUpload, Upload } from './media.ts'
import type { MediaPool } from './pool.ts'
import { Sealing } from './sealing.ts'
import { SEGMENT_BYTES } from './tasks/chunks.ts'
import { HEAD_BYTES } from './tasks/sniff.ts'
import { storageFailure, type TemporaryFiles } from './temporary.ts'

/** Longer than allowed. The HTTP layer answers by the status. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge'
  readonly statusCode = 413

  constructor() {
    super('the file is too large')
  }
}

interface Incoming {
  readonly limit: number
  readonly name?: string
  readonly mime?: string
}

/** Small files are not worth the threads. */
const SEALED_FROM = SEGMENT_BYTES
const BUFFER_BYTES = 262_144

export class Spool {
  readonly #temporary: TemporaryFiles
  readonly #pool: Pick<MediaPool, 'run'>
  readonly #digestKey: Uint8Array

  constructor(
    temporary: TemporaryFiles,
    pool: Pick<MediaPool, 'run'>,
    vault: Pick<Vault, 'derive'>,
  ) {
    this.#temporary = temporary
    this.#pool = pool
    this.#digestKey = vault.derive('media-digest')
  }

  /** Leaves nothing when it rejects. */
  async receive(
    stream: Readable,
    { limit, ...about }: Incoming,
    signal: AbortSignal,
  ): Promise<Upload> {
    const path = this.#temporary.file()
    const release = () => rm(path, { force: true })
    addAbortSignal(signal, stream)
    try {
      const pieces = new Pieces(stream, limit)
      const beginning = await pieces.take(SEALED_FROM)
      const sealed =
        pieces.bytes < SEALED_FROM ? undefined : await this.#seal(beginning, pieces, about, path)
      if (!sealed) await write(chained(beginning, pieces), path, signal)
      return { path, size: pieces.bytes, ...about, ...(sealed && { sealed }), release }
    } catch (error) {
      await release()
      throw storageFailure(error)
    } finally {
      stream.destroy()
    }
  }

  /** Undefined, with nothing done, for a file that has to be inspected. */
  async #seal(
    beginning: readonly Buffer[],
    rest: Pieces,
    about: Omit<Incoming, 'limit'>,
    target: string,
  ): Promise<SealedUpload | undefined> {
    const head = Buffer.concat(beginning, HEAD_BYTES)
    const sniffed = await this.#pool.run('sniff', { head })
    if (isLookedInto(mimeOf(sniffed, about))) return undefined
    const key = randomBytes(32)
    const options = { pool: this.#pool, target, key, digestKey: this.#digestKey }
    await using sealing = await Sealing.begin(options)
    for (const piece of beginning) await sealing.add(piece)
    await rest.each((piece) => sealing.add(piece))
    const { digest } = await sealing.finish()
    return { key, digest, ...(sniffed !== undefined && { sniffed }) }
  }
}

/** The pieces of a stream. */
class Pieces {
  bytes = 0
  readonly #stream: Readable
  readonly #limit: number
  readonly #ended: Promise<void>

  constructor(stream: Readable, limit: number) {
    this.#stream = stream
    this.#limit = limit
    this.#ended = finished(stream, { writable: false })
    // A stream may fail while nobody reads it, and whoever reads it next learns of it.
    this.#ended.catch(() => undefined)
  }

  /** At least so many bytes, or all. */
  async take(bytes: number): Promise<Buffer[]> {
    const taken: Buffer[] = []
    await this.#read((piece, stop) => {
      taken.push(piece)
      if (this.bytes >= bytes) stop()
    })
    return taken
  }

  /** Where `take` returns a promise, the next piece waits for it. */
  async each(take: (piece: Buffer) => Promise<void> | undefined): Promise<void> {
    let taking: Promise<void> | undefined
    try {
      await this.#read((piece, stop) => {
        taking = take(piece)
        if (!taking) return
        this.#stream.pause()
        taking.then(() => this.#stream.resume(), stop)
      })
    } finally {
      await Promise.allSettled([taking])
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const piece of this.#stream) {
      this.#count(piece)
      yield piece
    }
  }

  /** By events: an iterator stops the stream after each piece, which costs more than all other work with it. */
  async #read(take: (piece: Buffer, stop: (failure?: unknown) => void) => void): Promise<void> {
    const stopped = Promise.withResolvers<void>()
    const stop = (failure?: unknown) => {
      this.#stream.off('data', onPiece).pause()
      if (failure === undefined) stopped.resolve()
      else stopped.reject(failure)
    }
    const onPiece = (piece: Buffer) => {
      try {
        this.#count(piece)
        take(piece, stop)
      } catch (failure) {
        stop(failure)
      }
    }
    this.#stream.on('data', onPiece).resume()
    await Promise.race([stopped.promise, this.#ended])
  }

  #count(piece: Buffer): void {
    this.bytes += piece.length
    if (this.bytes > this.#limit) throw new TooLarge()
  }
}

async function* chained(beginning: readonly Buffer[], rest: Pieces): AsyncGenerator<Buffer> {
  yield* beginning
  yield* rest
}

async function write(pieces: AsyncIterable<Buffer>, path: string, signal: AbortSignal) {
  const options = { flags: 'wx', mode: 0o600, highWaterMark: BUFFER_BYTES }
  await pipeline(pieces, createWriteStream(path, options), { signal })
}
