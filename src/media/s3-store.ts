/** Encrypted files with an S3-compatible storage service. */
import { openAsBlob } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { S3mini, S3ServiceError } from 's3mini'
import { ObjectMissing, type ObjectStore } from './object-store.ts'

export interface S3Options {
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

const REQUEST_MS = 600_000

export class S3Store implements ObjectStore {
  readonly #client: S3mini

  constructor({ endpoint, bucket, ...options }: S3Options) {
    this.#client = new S3mini({
      ...options,
      endpoint: `${endpoint.replace(/\/+$/, '')}/${bucket}`,
      requestAbortTimeout: REQUEST_MS,
      // A redirect would carry the signature along.
      fetch: (input, init) => fetch(input, { ...init, redirect: 'error' }),
    })
  }

  /** One request: an object is there as a whole or not at all. */
  async put(object: string, path: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const file = await openAsBlob(path)
    await this.#client.putObject(object, file, undefined, undefined, undefined, file.size)
    await rm(path, { force: true })
  }

  async read(
    object: string,
    { from, length }: { from: number; length: number },
  ): Promise<Readable> {
    const response = await this.#client
      .getObjectRaw(object, false, from, from + length)
      .catch((cause) => {
        throw isMissing(cause) ? new ObjectMissing(object, { cause }) : cause
      })
    if (!response.body) throw new ObjectMissing(object)
    return Readable.fromWeb(response.body as ReadableStream)
  }

  async delete(object: string): Promise<void> {
    await this.#client.deleteObject(object)
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceError && error.status === 404
