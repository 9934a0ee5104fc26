/** The stores of encrypted files: this machine's disk, and a storage service. */

import { randomUUID } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { S3mini, S3NetworkError, S3ServiceError } from 's3mini'
import { fetch as send } from 'undici'
import { failed } from '../../machines/model/failure.ts'
import { beginningOf } from '../net/fetch.ts'
import { createGuardedAgent } from '../net/guard.ts'

/** A file that a thread may read, or a stream of bytes. The receiver closes it. */
export type SealedBytes = Pick<FileHandle, 'fd' | 'close'> | Readable

export interface ObjectStore {
  /** Takes over the file at `path`; it is durable once this resolves. */
  put(object: string, path: string, signal: AbortSignal): Promise<void>
  /** Rejects with `ObjectMissing` when there is none. */
  read(
    object: string,
    range: { readonly from: number; readonly length: number },
  ): Promise<SealedBytes>
  /** Resolves also when there was none. */
  delete(object: string): Promise<void>
}

export class ObjectMissing extends Error {
  override readonly name = 'ObjectMissing'

  constructor(object: string, options?: ErrorOptions) {
    super(`the store has no object ${object}`, options)
  }
}

/** Any other name could lead out of the folder of the store. */
const OBJECT_NAME = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** Encrypted files on this machine's disk, in 256 folders. A file with its final name is complete. */
export class DiskStore implements ObjectStore {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The file is flushed to the disk already, and on the same one. */
  async put(object: string, path: string): Promise<void> {
    const place = this.#place(object)
    const folder = dirname(place)
    const created = await mkdir(folder, { recursive: true, mode: 0o700 })
    await rename(path, place)
    await flushFolder(folder)
    if (created) await flushFolder(dirname(folder))
  }

  async read(object: string): Promise<FileHandle> {
    return await open(this.#place(object)).catch((cause) => {
      throw cause.code === 'ENOENT' ? new ObjectMissing(object, { cause }) : cause
    })
  }

  async delete(object: string): Promise<void> {
    await rm(this.#place(object), { force: true })
  }

  #place(object: string): string {
    if (!OBJECT_NAME.test(object)) throw new Error('this is no name of an object')
    return join(this.#folder, object.slice(0, 2), object)
  }
}

/** A new name is durable once its folder is flushed. Windows cannot flush a folder and need not. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  await using handle = await open(folder)
  await handle.sync()
}

/**
 * Names of the place where files lie: places with a name in common are one place. The first node on a folder leaves a mark
 * there; two that come at once leave two, and at least one of them sees both.
 */
export async function namesOfPlace(folder: string, s3: S3Options | undefined): Promise<string[]> {
  if (s3) return [`s3:${new URL(s3.endpoint).host}/${s3.bucket}`]
  const marks = join(folder, 'marks')
  await mkdir(marks, { recursive: true, mode: 0o700 })
  if ((await readdir(marks)).length === 0) await writeFile(join(marks, randomUUID()), '')
  return (await readdir(marks)).sort()
}

export interface S3Options {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const REQUEST_MS = 600_000
/** What the service says about a request is shorter, and comes at once. */
const SAID = { bytes: 65_536, ms: 5_000 }

/** The operator names the service, wherever it is. Each file that is read slowly holds a connection. */
const dispatcher = createGuardedAgent({
  allowPrivate: true,
  connections: 1_000,
  connectTimeoutMs: 10_000,
})

/** Only a file that was asked for is handed on as it comes; of any other answer the status tells what was done. */
async function fetchBounded(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  // A redirect would carry the signature along.
  const guarded = { ...init, redirect: 'error', dispatcher } as Parameters<typeof send>[1]
  const response = (await send(input as string, guarded)) as unknown as Response
  if (!response.body || (response.ok && init?.method === 'GET')) return response
  const said = await beginningOf(Readable.fromWeb(response.body as ReadableStream), SAID)
  const { status, headers } = response
  // A status beyond the last one would be refused.
  return new Response(said as Uint8Array<ArrayBuffer>, { status: Math.min(status, 599), headers })
}

/** Encrypted files with an S3-compatible storage service. */
export class S3Store implements ObjectStore {
  readonly #options: ConstructorParameters<typeof S3mini>[0]

  constructor({ endpoint, bucket, ...options }: S3Options) {
    this.#options = {
      ...options,
      endpoint: `${endpoint.replace(/\/+$/, '')}/${bucket}`,
      requestAbortTimeout: REQUEST_MS,
    }
  }

  /** One request: an object is there as a whole or not at all. */
  async put(object: string, path: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const file = await openAsBlob(path)
    await this.#client(signal)
      .putObject(object, file, undefined, undefined, undefined, file.size)
      .catch((cause) => {
        throw explained(cause)
      })
    await rm(path, { force: true })
  }

  async read(
    object: string,
    { from, length }: { from: number; length: number },
  ): Promise<Readable> {
    const response = await this.#client()
      .getObjectRaw(object, false, from, from + length)
      .catch((cause) => {
        throw isMissing(cause) ? new ObjectMissing(object, { cause }) : explained(cause)
      })
    if (!response.body) throw new ObjectMissing(object)
    // One that breaks before it is read has its error at the first read.
    return Readable.fromWeb(response.body as ReadableStream).on('error', () => undefined)
  }

  async delete(object: string): Promise<void> {
    await this.#client().deleteObject(object)
  }

  /** The library has no signal for one request. */
  #client(signal?: AbortSignal): S3mini {
    const during = (own: AbortSignal | null | undefined) =>
      AbortSignal.any([own, signal].flatMap((each) => each ?? []))
    return new S3mini({
      ...this.#options,
      fetch: (input, init) => fetchBounded(input, { ...init, signal: during(init?.signal) }),
    })
  }
}

/** Other servers on the way answer 404 too, and so does the service where its bucket is missing. */
const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceError &&
  error.status === 404 &&
  (error.serviceCode === 'NoSuchKey' || /<Code>NoSuchKey</.test(`${error.body}`))

const PASSING = [404, 408, 429]

/** Whether S3 cannot be reached, or its answer is of a kind that passes. It refuses otherwise. */
function isAway(error: unknown): boolean {
  if (error instanceof S3ServiceError) return error.status >= 500 || PASSING.includes(error.status)
  if (!(error instanceof Error)) return false
  // The words of `fetch` for all that can happen to a connection.
  return (
    error instanceof S3NetworkError ||
    /^(TimeoutError|AbortError)$/.test(error.name) ||
    error.message === 'fetch failed'
  )
}

/** The failure for callers while the service is away; a refusal, or what is no failure of the service, stays what it is. */
function explained(error: unknown): unknown {
  if (!isAway(error)) return error
  const description = 'the storage for files does not answer'
  return failed('unavailable', description, { retryAfterSeconds: 5 }, { cause: error })
}
