/** Everything about files, put together: the service, the paths, and what keeps the store tidy. */
import { join } from 'node:path'
import type { Logger } from '../../actors/ports/ports.ts'
import type { Database } from '../database/database.ts'
import { createGuardedAgent, type GuardOptions } from '../net/guard.ts'
import type { Vault } from '../security/vault.ts'
import { BlobRows } from './blob-rows.ts'
import { BlobStore } from './blobs.ts'
import { findConfinement, findTools } from './confinement.ts'
import { PostgresFilePaths } from './downloads.ts'
import {
  type FilePaths,
  type MediaLimits,
  type MediaMeasures,
  type MediaService,
  unmeasured,
} from './media.ts'
import { DiskStore, namesOfPlace, type S3Options, S3Store } from './object-store.ts'
import { createPool } from './pool.ts'
import { StoredMediaService } from './service.ts'
import { Spool } from './spool.ts'
import { TemporaryFiles } from './temporary.ts'
import { Transcoder } from './transcoder.ts'

export interface MediaOptions {
  readonly db: Database
  readonly vault: Vault
  readonly logger: Logger
  readonly dataDir: string
  /** Processes that share the folder each have their own temporary files. */
  readonly node: string
  readonly limits: MediaLimits
  /** The search path of programs; empty: ffmpeg is not used. */
  readonly searchPath: string
  /** Use ffmpeg only where it cannot read the service's files. */
  readonly mustConfine?: boolean
  /** Absent: files lie on this machine's disk. */
  readonly s3?: S3Options | undefined
  /** For addresses that users name. */
  readonly guard: GuardOptions
  readonly measures?: MediaMeasures
}

export interface OpenedMedia {
  readonly service: MediaService
  readonly paths: FilePaths
  readonly limits: MediaLimits
  /** Names of the place where files lie: nodes of one database have one in common. */
  readonly place: readonly string[]
  /** Removes unused files. One node calls it at intervals. */
  sweep(): Promise<void>
  close(): Promise<void>
}

/** Undefined when there is no ffmpeg, or none that may be used. */
async function confinedTools({ searchPath, mustConfine = false, logger }: MediaOptions) {
  const tools = await findTools(searchPath)
  if (!tools) {
    logger.info({}, 'ffmpeg was not found: sound and film are sent as they are')
    return undefined
  }
  const confinement = await findConfinement(tools, searchPath)
  if (confinement.hidesFiles) return { ...tools, confinement }
  if (mustConfine) {
    logger.warn({}, 'ffmpeg is not used: FFMPEG_CONFINED is set and bubblewrap does not work here')
    return undefined
  }
  logger.info({}, 'ffmpeg runs without bubblewrap: it could read what the service may read')
  return { ...tools, confinement }
}

export async function openMedia(options: MediaOptions): Promise<OpenedMedia> {
  const { db, vault, logger, dataDir, node, limits, s3, guard } = options
  const { measures = unmeasured } = options
  const folder = join(dataDir, 'media')
  const tools = await confinedTools(options)
  const place = join(folder, 'temporary', encodeURIComponent(node))
  const temporary = await TemporaryFiles.open(place, logger)
  const pool = createPool({ logger })
  measures.waiting(() => pool.waiting)
  const objects = s3 ? new S3Store(s3) : new DiskStore(join(folder, 'objects'))
  // Hardly any address is asked twice.
  const agent = createGuardedAgent({ ...guard, keepAliveMs: 1_000 })
  const blobs = new BlobStore({
    rows: new BlobRows(db),
    objects,
    temporary,
    pool,
    vault,
    quota: { bytes: limits.quotaBytes, files: limits.quotaFiles },
    keepSeconds: limits.keepSeconds,
    logger,
  })
  const transcoder = new Transcoder({ tools, pool, logger, measures, maxBytes: limits.uploadBytes })
  const spool = new Spool(temporary, pool, vault)
  const paths = new PostgresFilePaths(db)
  return {
    service: new StoredMediaService({
      blobs,
      temporary,
      spool,
      pool,
      transcoder,
      agent,
      limits,
      measures,
      logger,
    }),
    paths,
    limits,
    place: await namesOfPlace(folder, s3),
    async sweep() {
      const removed = await blobs.sweep()
      if (removed > 0) logger.info({ removed }, 'old files were removed')
      await paths.sweep()
    },
    async close() {
      await Promise.all([pool.close(), agent.destroy()])
      await temporary.close()
    },
  }
}
