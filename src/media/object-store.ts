/** Where encrypted files lie: on this machine's disk, or with a storage service. */
import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'

/** A file that a thread may read, or bytes as they come. Whoever receives it closes it. */
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
