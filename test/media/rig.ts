/** A store of files on a database and a disk of its own. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Test } from 'tap'
import { BlobRows } from '../../src/media/blob-rows.ts'
import { BlobStore, type BlobStoreOptions } from '../../src/media/blobs.ts'
import { DiskStore } from '../../src/media/object-store.ts'
import { createPool } from '../../src/media/pool.ts'
import { TemporaryFiles } from '../../src/media/temporary.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { testVault } from '../support/vault.ts'

export const forever = new AbortController().signal

export async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export async function rig(t: Test, options: Partial<BlobStoreOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-media-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const { database } = await testDatabase(t)
  const pool = createPool({ threads: 2 })
  t.teardown(() => pool.close())
  const temporary = await TemporaryFiles.open(join(folder, 'tmp'), quietLogger)
  const blobs = new BlobStore({
    rows: new BlobRows(database),
    objects: new DiskStore(join(folder, 'objects')),
    temporary,
    pool,
    vault: await testVault(t, database),
    quota: { bytes: 1e9, files: 1_000 },
    keepSeconds: 3_600,
    logger: quietLogger,
    ...options,
  })
  const user = async (): Promise<number> => {
    const [row] = await database.query<{ id: number }>(
      `insert into app_user (phone_index, phone_sealed) values ($1, '') returning id`,
      [randomBytes(8)],
    )
    return row?.id ?? 0
  }
  let files = 0
  return {
    folder,
    database,
    pool,
    temporary,
    blobs,
    user,
    /** A plain file outside the temporary folder. */
    async file(bytes: Buffer | string): Promise<string> {
      const path = join(folder, `given-${files++}`)
      await writeFile(path, bytes)
      return path
    },
    /** Everything that lies on the disk under this name. */
    async stored(part: 'tmp' | 'objects'): Promise<string[]> {
      const found = await readdir(join(folder, part), { recursive: true, withFileTypes: true })
      return found
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
    },
  }
}
