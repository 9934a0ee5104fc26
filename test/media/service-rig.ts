/** The whole of media on a database and a disk of its own, and bytes to give to it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import sharp from 'sharp'
import type { Test } from 'tap'
import type { Media } from '../../machines/model/media.ts'
import { type Ingestion, usualLimits } from '../../src/media/media.ts'
import { type MediaOptions, openMedia } from '../../src/media/open.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { testVault } from '../support/vault.ts'
import { collect, forever } from './rig.ts'

export async function serviceRig(t: Test, options: Partial<MediaOptions> = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'chapar-service-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const { database } = await testDatabase(t)
  const media = await openMedia({
    db: database,
    vault: await testVault(t, database),
    logger: quietLogger,
    dataDir,
    node: 'test',
    limits: usualLimits,
    searchPath: '',
    guard: { allowPrivate: true },
    ...options,
  })
  t.teardown(() => media.close())
  const [row] = await database.query<{ id: number }>(
    `insert into app_user (phone_index, phone_sealed) values ('service', '') returning id`,
  )
  const userId = row?.id ?? 0
  const { service } = media
  return {
    ...media,
    database,
    userId,
    async ingest(
      kind: Ingestion['kind'],
      bytes: Buffer | string,
      more: Omit<Partial<Ingestion>, 'source'> & { signal?: AbortSignal } = {},
    ) {
      const source = { from: 'stream' as const, stream: Readable.from([Buffer.from(bytes)]) }
      return await service.ingest({ userId, kind, source, ...more }, more.signal ?? forever)
    },
    async bytes({ file }: Media): Promise<Buffer> {
      const { stream } = await service.open('blob' in file ? file.blob : '')
      return await collect(stream)
    },
    /** Files on the disk, by folder. */
    async left(): Promise<{ temporary: number; objects: number }> {
      const count = async (folder: string) => {
        const path = join(dataDir, 'media', folder)
        const found = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => [])
        return found.filter((entry) => entry.isFile()).length
      }
      return { temporary: await count('temporary'), objects: await count('objects') }
    },
  }
}

export const drawn = (width: number, height: number, background = '#3377aa') =>
  sharp({ create: { width, height, channels: 3, background, noise: noise(width) } })

/** Without it every picture would be a few hundred bytes. */
const noise = (width: number) => ({
  type: 'gaussian' as const,
  mean: 128,
  sigma: width > 2_000 ? 5 : 30,
})
