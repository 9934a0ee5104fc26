/** The store of files: addressed by content, encrypted with the key of its account, within its quota. */
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Logger } from '../../actors/ports/ports.ts'
import { failed } from '../../machines/model/failure.ts'
import type { SecretLocation, Vault } from '../security/vault.ts'
import type { BlobRows, Quota } from './blob-rows.ts'
import type { BlobFacts, OpenBlob, Range, SealedUpload, Upload } from './media.ts'
import { ObjectMissing, type ObjectStore } from './object-store.ts'
import type { MediaPool } from './pool.ts'
import { openSealed, sealFile } from './sealing.ts'
import { explain, type TemporaryFiles } from './temporary.ts'

export interface BlobStoreOptions {
  readonly rows: BlobRows
  readonly objects: ObjectStore
  readonly temporary: TemporaryFiles
  readonly pool: MediaPool
  readonly vault: Pick<Vault, 'seal' | 'open' | 'derive'>
  readonly quota: Quota
  /** How long a blob without holders is kept. */
  readonly keepSeconds: number
  readonly logger: Logger
}

interface NewBlob {
  readonly userId: number
  readonly path: string
  readonly mime: string
}

interface SealedAt {
  readonly path: string
  readonly size: number
  readonly key: Buffer
  readonly digest: string
}

const BATCH = 200
const PUT_MS = 600_000

export class BlobStore {
  readonly #options: BlobStoreOptions
  readonly #digestKey: Uint8Array

  constructor(options: BlobStoreOptions) {
    this.#options = options
    this.#digestKey = options.vault.derive('media-digest')
  }

  /** Copies the file at `path`. The same bytes of the same user are stored once. */
  async add({ path, ...about }: NewBlob, signal: AbortSignal) {
    const { temporary, pool } = this.#options
    await using tempFolder = await temporary.folder()
    const target = tempFolder.file()
    const key = randomBytes(32)
    const options = { pool, target, key, digestKey: this.#digestKey }
    const sealed = await sealFile(path, options, signal).catch(explain)
    return await this.#keep({ ...about, path: target, key, ...sealed }, signal)
  }

  /** Takes over a file that was encrypted while it was received. */
  async take(
    { path, size, sealed: { key, digest } }: Upload & { readonly sealed: SealedUpload },
    about: Omit<NewBlob, 'path'>,
    signal: AbortSignal,
  ) {
    return await this.#keep({ ...about, path, size, key, digest }, signal)
  }

  async #keep(
    { userId, mime, path, size, key, digest }: SealedAt & Omit<NewBlob, 'path'>,
    signal: AbortSignal,
  ) {
    const { rows, objects, vault, keepSeconds, quota } = this.#options
    const blob = this.#address(userId, digest)
    if ((await rows.keep([blob], keepSeconds)).length > 0) return { blob, size }

    const object = randomUUID()
    const sealedKey = await vault.seal(`user:${userId}`, placeOf(object), key)
    await rows.announce(object)
    const limit = AbortSignal.any([signal, AbortSignal.timeout(PUT_MS)])
    await objects.put(object, path, limit).catch((cause) => this.#failed(cause))
    const row = { blob, userId, size, mime, object, sealedKey }
    const outcome = await rows.add(row, keepSeconds, quota)
    if (outcome !== 'added') await this.#remove([object])
    if (outcome === 'full') throw failed('bad_request', 'the storage quota is used up')
    return { blob, size }
  }

  async facts(blob: string): Promise<BlobFacts> {
    const { size, mime } = await this.#find(blob)
    return { size, mime }
  }

  async open(blob: string, range: Range = {}): Promise<OpenBlob> {
    const { objects: store, pool, vault } = this.#options
    const { size, mime, object, sealedKey } = await this.#find(blob)
    const offset = Math.min(range.offset ?? 0, size)
    const length = Math.min(range.length ?? size, size - offset)
    const key = await vault.open(placeOf(object), sealedKey)
    try {
      const stream = await openSealed({ store, pool }, { object, key, size }, { offset, length })
      return { size, mime, stream }
    } catch (cause) {
      if (!(cause instanceof ObjectMissing)) return this.#failed(cause)
      this.#options.logger.error({ err: cause, blob }, 'a stored file is missing')
      throw failed('not_found', '', {}, { cause })
    }
  }

  /** Logs the failure for the operator: the caller is only asked to come back. */
  #failed(err: unknown): never {
    this.#options.logger.warn({ err }, 'the store of files failed')
    return explain(err)
  }

  async hold(blobs: readonly string[], holder: string): Promise<void> {
    const unique = [...new Set(blobs)]
    const held = await this.#options.rows.hold(unique, holder)
    if (held < unique.length) throw failed('not_found', 'the file is gone')
  }

  async release(holder: string): Promise<void> {
    await this.#options.rows.release(holder)
  }

  /** Deletes expired blobs without holders. Returns their number. */
  async sweep(): Promise<number> {
    const { rows } = this.#options
    let gone = 0
    for (;;) {
      const count = await rows.expire(BATCH)
      gone += count
      if (count < BATCH) break
    }
    for (;;) {
      const orphans = await rows.orphans(BATCH)
      const removed = await this.#remove(orphans)
      if (orphans.length < BATCH || removed < orphans.length) return gone
    }
  }

  /** Objects that cannot be removed now stay orphans, and the next sweep tries again. */
  async #remove(names: readonly string[]): Promise<number> {
    const { objects, rows, logger } = this.#options
    const removed: string[] = []
    for (const object of names) {
      try {
        await objects.delete(object)
        removed.push(object)
      } catch (err) {
        logger.warn({ err, object }, 'a stored file was not removed')
      }
    }
    if (removed.length > 0) await rows.forget(removed)
    return removed.length
  }

  async #find(blob: string) {
    const row = await this.#options.rows.find(blob)
    if (!row) throw failed('not_found')
    return row
  }

  /** A keyed hash, so that the name of a file does not reveal its content. */
  #address(userId: number, digest: string): string {
    const hmac = createHmac('sha256', this.#options.vault.derive('media-address'))
    return hmac.update(`${userId}|${digest}`).digest('hex').slice(0, 40)
  }
}

const placeOf = (object: string): SecretLocation => ({
  table: 'media_blob',
  column: 'sealed_key',
  row: object,
})
