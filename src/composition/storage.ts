/** Opens the storage of the service: database, vault, metrics, request journal, jobs and files. */
import type { Config } from '../config/config.ts'
import { sealIdentities } from '../credentials/identity.ts'
import { openDatabase } from '../database/database.ts'
import { enterCell, migrate } from '../database/migrate.ts'
import { openWriteProbe, WriteWatch } from '../database/write-watch.ts'
import { CallLog } from '../exchanges/calls.ts'
import { createJobs } from '../jobs/jobs.ts'
import { KeysWantedUpdates } from '../keys/wanted-updates.ts'
import { openMedia } from '../media/open.ts'
import type { Logger } from '../observability/logger.ts'
import { createMetrics } from '../observability/metrics.ts'
import { RequestJournal } from '../observability/request-journal.ts'
import { concerning, concerningDatabase } from '../process/fatal-errors.ts'
import { openVault } from '../security/vault.ts'

interface StorageOptions {
  readonly config: Config
  readonly databaseUrl: string
  readonly logger: Logger
}

export type Storage = Awaited<ReturnType<typeof openStorage>>

/** Connections of each of several nodes: they share those that the database allows. */
const CONNECTIONS_AMONG_NODES = 8

/** Seals under the newest key what still is under older ones. Call it once this node knows that the others have its keys. */
export async function resealAll(
  { db, vault }: Pick<Storage, 'db' | 'vault'>,
  logger: Logger,
): Promise<void> {
  const rewrapped = await vault.rewrap()
  if (rewrapped > 0) logger.info({ rewrapped }, 'data keys are under the newest key now')
  const sealed = await sealIdentities(db, vault)
  if (sealed > 0) logger.info({ accounts: sealed }, 'names and phones of accounts are sealed now')
}

/** How failures name the database: no setting names the one that the service runs itself. */
export const nameOfDatabase = ({ databaseUrl }: Pick<Config, 'databaseUrl'>): string =>
  databaseUrl === undefined ? 'the database in DATA_DIR' : 'DATABASE_URL'

/** `opened` closes each part again, the last one first. */
export async function openStorage(options: StorageOptions, opened: AsyncDisposableStack) {
  const { config, databaseUrl, logger } = options
  const store = nameOfDatabase(config)
  /** For steps that depend on variables of their own and on the database. */
  const concerningBoth = <T>(variables: string, work: Promise<T>) =>
    concerning(variables, concerningDatabase(store, work))
  const migrated = await concerning(store, migrate(databaseUrl))
  for (const name of migrated) logger.info({ migration: name }, 'migrated')
  await concerning(store, enterCell(databaseUrl, config.cell))

  const probe = openWriteProbe({ url: databaseUrl, node: config.node, logger })
  opened.defer(() => probe.close())
  const writes = new WriteWatch({ probe: (bytes) => probe.write(bytes), logger })
  opened.defer(() => writes.close())
  const onUnavailable = (cause: unknown) => writes.suspect(cause)
  const isAmongNodes = config.clusterAddress !== undefined
  const bound = isAmongNodes ? { maxConnections: CONNECTIONS_AMONG_NODES } : {}
  const db = openDatabase({ url: databaseUrl, logger, onUnavailable, ...bound })
  opened.defer(() => db.close())

  const { keyFile } = config
  const vault = await concerningBoth('KEY_FILE', openVault({ db, keyFile, logger }))

  const metrics = createMetrics({ ofProcess: true })
  const { requestDays: retentionDays, requestSample: oneIn } = config.retention
  const journal = new RequestJournal({ database: db, metrics, logger, retentionDays, oneIn })
  opened.defer(() => journal.close())
  const { bodyDays } = config.retention
  const callLog = bodyDays > 0 ? new CallLog({ db, vault, logger, days: bodyDays }) : undefined
  opened.defer(async () => callLog?.flush())

  const redis = config.redisUrl === undefined ? {} : { redisUrl: config.redisUrl }
  const opening = createJobs({ databaseUrl, logger, ...redis })
  const jobs = await (config.redisUrl
    ? concerningBoth('REDIS_URL', opening)
    : concerning(store, opening))
  opened.defer(() => jobs.close())
  metrics.jobQueueUp(() => (jobs.trouble() === null ? 1 : 0))

  const { allowPrivate, ...files } = config.media
  const openingMedia = openMedia({
    db,
    vault,
    logger,
    dataDir: config.dataDir,
    node: config.node,
    ...files,
    guard: { allowPrivate },
    measures: metrics.media,
  })
  const media = await concerningBoth('DATA_DIR', openingMedia)
  opened.defer(() => media.close())
  const wanted = new KeysWantedUpdates(db)
  return { db, vault, writes, metrics, journal, callLog, jobs, media, wanted }
}
