/** Receives files: those that need no inspection are encrypted on the way, others stay unencrypted for a moment. */
import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isLookedInto, mimeOf } from './formats.ts'
import type { SealedUpload, Upload } from './media.ts'
import type { MediaPool } from './pool.ts'
import { sealPieces } from './sealing.ts'
import { SEGMENT_BYTES } from './tasks/chunks.ts'
import { HEAD_BYTES } from './tasks/sniff.ts'
import { explainFullDisk, type TemporaryFiles } from './temporary.ts'

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

type Pieces = AsyncIterable<Buffer>

/** Small files are not worth the threads. */
const SEALED_FROM = SEGMENT_BYTES
const BUFFER_BYTES = 262_144

export class Spool {
  readonly #temporary: TemporaryFiles
  readonly #pool: Pick<MediaPool, 'run'>

  constructor(temporary: TemporaryFiles, pool: Pick<MediaPool, 'run'>) {
    this.#temporary = temporary
    this.#pool = pool
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
      const counted = new Counted(stream, limit)
      const beginning = await counted.take(SEALED_FROM)
      const pieces = chained(beginning, counted)
      const sealed =
        counted.bytes < SEALED_FROM ? undefined : await this.#seal(beginning, pieces, about, path)
      if (!sealed) await write(pieces, path, signal)
      return { path, size: counted.bytes, ...about, ...(sealed && { sealed }), release }
    } catch (error) {
      await release()
      throw explainFullDisk(error)
    } finally {
      stream.destroy()
    }
  }

  /** Undefined, with nothing done, for a file that has to be inspected. */
  async #seal(
    beginning: readonly Buffer[],
    pieces: Pieces,
    about: Omit<Incoming, 'limit'>,
    target: string,
  ): Promise<SealedUpload | undefined> {
    const head = Buffer.concat(beginning, HEAD_BYTES)
    const sniffed = await this.#pool.run('sniff', { head })
    if (isLookedInto(mimeOf(sniffed, about))) return undefined
    const key = randomBytes(32)
    const { digest } = await sealPieces(pieces, { pool: this.#pool, target, key })
    return { key, digest, ...(sniffed !== undefined && { sniffed }) }
  }
}

class Counted {
  bytes = 0
  readonly #pieces: AsyncIterator<Buffer>
  readonly #limit: number

  constructor(stream: Readable, limit: number) {
    this.#pieces = stream[Symbol.asyncIterator]()
    this.#limit = limit
  }

  async next(): Promise<IteratorResult<Buffer>> {
    const next = await this.#pieces.next()
    if (!next.done) this.bytes += next.value.length
    if (this.bytes > this.#limit) throw new TooLarge()
    return next
  }

  /** At least so many bytes, or all. */
  async take(bytes: number): Promise<Buffer[]> {
    const taken: Buffer[] = []
    while (this.bytes < bytes) {
      const { value, done } = await this.next()
      if (done) break
      taken.push(value)
    }
    return taken
  }
}

async function* chained(beginning: readonly Buffer[], rest: Counted): Pieces {
  yield* beginning
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

async function write(pieces: Pieces, path: string, signal: AbortSignal): Promise<void> {
  const options = { flags: 'wx', mode: 0o600, highWaterMark: BUFFER_BYTES }
  await pipeline(pieces, createWriteStream(path, options), { signal })
}
