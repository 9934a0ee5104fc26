/** The composition root: every adapter is built here and handed to those who need it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '../actors/ports/platform.ts'
import { createAccounts } from './accounts/accounts.ts'
import { consoleOtpLimits, defaultOtpLimits } from './accounts/limits.ts'
import { createSender } from './accounts/senders/create.ts'
import type { Config } from './config/config.ts'
import { createCore } from './core.ts'
import { sealIdentities } from './credentials/identity.ts'
import { warnOfMemory } from './credentials/memory-need.ts'
import { startAll } from './credentials/start-all.ts'
import { openDatabase } from './database/database.ts'
import { migrate } from './database/migrate.ts'
import { openWriteProbe } from './database/write-probe.ts'
import { WriteWatch } from './database/write-watch.ts'
import { createReadiness } from './http/health.ts'
import { flushAll, listen } from './http/listen.ts'
import { createJobs } from './jobs/jobs.ts'
import { rearm } from './jobs/rearm.ts'
import { remindWebhooks } from './jobs/webhook-reminders.ts'
import { everyHour, watchActors } from './maintenance.ts'
import { type OpenedMedia, openMedia } from './media/open.ts'
import { assertFree } from './net/free-port.ts'
import type { Logger } from './observability/log.ts'
import { createMetrics } from './observability/metrics.ts'
import { openRequestJournal } from './observability/request-journal.ts'
import { sandboxPlatform } from './platforms/sandbox/platform.ts'
import type { TelegramOptions } from './platforms/telegram/platform.ts'
import { unconfiguredTelegram } from './platforms/telegram/unconfigured.ts'
import { bale, telegramBot } from './platforms/upstream-bot/flavour.ts'
import { createBotApi } from './platforms/upstream-bot/platform.ts'
import { xmppPlatform } from './platforms/xmpp/platform.ts'
import { PostgresRooms } from './platforms/xmpp/rooms/postgres.ts'
import { createEraser } from './privacy/erase.ts'
import { concerning } from './process/start-failure.ts'
import { createSandbox, type Sandbox } from './sandbox/sandbox.ts'
import { openVault } from './security/vault.ts'

export interface Gateway {
  readonly core: ReturnType<typeof createCore>
  readonly media: OpenedMedia
  /** Where it listens, as an address on this machine. */
  readonly address: string
  /** The network of its own, for those who move its people. */
  readonly sandbox: Sandbox | undefined
  /** `atOnce`: without waiting for a balancer to notice. */
  stop(options?: { readonly atOnce?: boolean }): Promise<void>
}

export interface GatewayOptions {
  readonly config: Config
  readonly databaseUrl: string
  readonly logger: Logger
  /** Shows a line to whoever started the service. */
  readonly print: (line: string) => void
  /** Beside the platforms that are built in. */
  readonly platforms?: readonly Platform[]
}

/** How long an account that is deleted with its user may take to be signed out. */
const DELETE_MS = 25_000

/** What the start asks for and each run for the next. */
const recurring = [
  { kind: 'updates', id: 'retention' },
  { kind: 'accounts', id: 'upkeep' },
]

const LATE_WRITES_MS = 1_000

/** What was opened before a failure is closed again, last first. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const hurry = new AbortController()
  const { address, core, media, sandbox } = await open(options, opened, hurry.signal)
  const toClose = opened.move()
  const stop: Gateway['stop'] = ({ atOnce = false } = {}) => {
    if (atOnce) hurry.abort()
    return toClose.disposeAsync()
  }
  return { core, media, sandbox, address, stop }
}

async function open(options: GatewayOptions, opened: AsyncDisposableStack, hurry: AbortSignal) {
  const { config, databaseUrl, logger, print } = options
  await assertPortsFree(config)
  const store = config.databaseUrl === undefined ? 'DATA_DIR' : 'DATABASE_URL'
  const migrated = await concerning(store, migrate(databaseUrl))
  for (const name of migrated) logger.info({ migration: name }, 'migrated')
  const probe = openWriteProbe({ url: databaseUrl, node: config.node, log: logger })
  opened.defer(() => probe.close())
  const writes = new WriteWatch({ probe: (bytes) => probe.write(bytes), log: logger })
  opened.defer(() => writes.close())
  const onUnavailable = (cause: unknown) => writes.suspect(cause)
  const db = openDatabase({ url: databaseUrl, log: logger, onUnavailable })
  opened.defer(() => db.close())
  const { keyFile } = config
  const vault = await concerning('KEY_FILE', openVault({ db, keyFile, log: logger }))
  const rewrapped = await vault.rewrap()
  if (rewrapped > 0) logger.info({ rewrapped }, 'data keys are under the newest key now')
  const sealed = await sealIdentities(db, vault)
  if (sealed > 0) logger.info({ accounts: sealed }, 'names and phones of accounts are sealed now')
  const metrics = createMetrics({ ofProcess: true })
  const retentionDays = config.retention.requestDays
  const journal = openRequestJournal({ database: db, metrics, log: logger, retentionDays })
  opened.defer(() => journal.close())
  const redis = config.redisUrl === undefined ? {} : { redisUrl: config.redisUrl }
  const opening = createJobs({ databaseUrl, logger, ...redis })
  const jobs = await (config.redisUrl ? concerning('REDIS_URL', opening) : opening)
  opened.defer(() => jobs.close())
  metrics.jobQueueUp(() => (jobs.trouble() === null ? 1 : 0))
  const sender = createSender(config.otpSender, { production: config.production, print })
  opened.defer(() => sender.close())
  const issuer = config.baseUrls[0]
  const { otp, codeLength, callsPerUser } = config.limits
  const usual = sender.channel === 'console' ? consoleOtpLimits : defaultOtpLimits
  const accounts = createAccounts({
    db,
    vault,
    jobs,
    sender,
    issuer,
    limits: { ...usual, ...otp },
    callLimit: callsPerUser,
    ...(codeLength && { codeLength }),
    log: logger,
  })

  const { limits, searchPath, mustConfine, s3, allowPrivate } = config.media
  const openingMedia = openMedia({
    db,
    vault,
    log: logger,
    dataDir: config.dataDir,
    node: config.node,
    limits,
    searchPath,
    mustConfine,
    ...(s3 && { s3 }),
    guard: { allowPrivate },
    measures: metrics.media,
  })
  const media = await concerning('DATA_DIR', openingMedia)
  opened.defer(() => media.close())

  const sandbox = config.sandbox
    ? createSandbox({ db, logger, media: media.service, limits: config.sandboxLimits })
    : undefined
  if (sandbox) opened.defer(() => sandbox.close())
  // A statement whose connection was lost may be carried out a moment later still.
  const lookAround = () => sandbox?.lookAround()
  writes.onRecovery(() => [0, LATE_WRITES_MS].map((ms) => setTimeout(lookAround, ms).unref()))
  const { telegram: telegramAddress, bale: baleAddress } = config.botApi
  const botApis = [
    createBotApi({ flavour: telegramBot, ...telegramAddress, media: media.service, log: logger }),
    createBotApi({ flavour: bale, ...baleAddress, media: media.service, log: logger }),
  ]
  for (const { close } of botApis) opened.defer(close)
  const platforms = [
    ...(sandbox ? [sandboxPlatform(sandbox)] : []),
    // A server on loopback is for trying out: in production it would be a way into this machine.
    xmppPlatform({
      log: logger,
      media: media.service,
      rooms: new PostgresRooms({ db, vault }),
      allowPrivate: !config.production,
    }),
    await telegramOf(config.telegram, { db, media: media.service, log: logger }),
    ...botApis.map(({ platform }) => platform),
    ...(options.platforms ?? []),
  ]
  const core = createCore({
    db,
    vault,
    config,
    platforms: new Map(platforms.map((platform) => [platform.id, platform])),
    metrics,
    writes,
    logger,
    received: (userId, credentialId, updatesReceived) =>
      journal.count({ userId, credentialId }, { updatesReceived }),
    attempted: (key, { attempts, failures }) =>
      journal.count(key, {
        webhookAttempts: attempts,
        webhookFailures: failures,
        updatesDelivered: attempts - failures,
      }),
    remindKey: (apiKeyId, at) => webhookReminder.set(apiKeyId, at),
  })
  const webhookReminder = remindWebhooks(jobs, (apiKeyId) => core.roster.remind(apiKeyId), logger)
  opened.defer(() => core.stop())

  await accounts.start()
  const eraser = createEraser({
    db,
    vault,
    log: logger,
    deleteAccount: async (credentialId) => {
      const actor = await core.supervisor.find(credentialId)
      await actor.ask({ type: 'credential.delete' }, AbortSignal.timeout(DELETE_MS))
    },
    signOut: (userId) => accounts.signOut(userId),
    endLinks: (userId) => core.links.endAll(userId),
    forgetKeys: async (userId) => {
      const keys = [...core.keys.live()].map(([, key]) => key)
      const theirs = keys.filter(({ facts }) => facts.userId === userId)
      for (const key of theirs) key.stop()
      await Promise.all(theirs.map(({ closed }) => closed))
    },
    flush: () => flushAll({ core, journal }),
    sweepFiles: () => media.sweep(),
  })
  everyHour(jobs, { db, updates: core.updates, limits: config.retention, media, eraser, logger })
  jobs.start()
  opened.defer(rearm(jobs, recurring, logger))
  core.ownership.watch()
  await warnOfMemory(db, logger)
  const started = await startAll(core.store, core.updates, core.supervisor)
  if (started > 0) logger.info({ credentials: started }, 'credentials are coming back')
  const behind = await core.roster.start()
  if (behind > 0) logger.info({ keys: behind }, 'webhooks have something to deliver')
  opened.defer(watchActors(core, { db, metrics, config, logger }))

  const readiness = createReadiness({ database: db, log: logger })
  readiness.addCheck(() => writes.trouble(), 'the database takes no writes')
  const [leaving, draining] = [new AbortController(), new AbortController()]
  const parts = { config, logger, metrics, journal, readiness, accounts, core, db }
  const world = { ...parts, sandbox, media, jobs, eraser }
  const { close, address } = await listen({
    ...world,
    leaving: leaving.signal,
    draining: draining.signal,
  })
  opened.defer(async () => {
    readiness.drain()
    leaving.abort()
    // Whoever asks until a balancer has noticed is answered as ever.
    await pause(config.drainMs, undefined, { signal: hurry }).catch(() => undefined)
    draining.abort()
    core.endPolls()
    await close()
  })
  return { address, core, media, sandbox }
}

/** Whoever takes the accounts over and then cannot listen has only taken them from the service that does. */
async function assertPortsFree({ host, port, metrics }: Config): Promise<void> {
  await concerning('PORT, HOST', assertFree(host, port))
  if (metrics.port) await concerning('METRICS_PORT, HOST', assertFree(host, metrics.port))
}

/** Its library is a quarter of what a start would load. */
async function telegramOf(
  application: Config['telegram'],
  options: Omit<TelegramOptions, 'application'>,
): Promise<Platform> {
  if (!application) {
    const remedy = 'set TELEGRAM_API_ID and TELEGRAM_API_HASH, from https://my.telegram.org'
    options.log.info({ remedy }, 'accounts of Telegram cannot be linked')
    return unconfiguredTelegram()
  }
  const { telegramPlatform } = await import('./platforms/telegram/platform.ts')
  return telegramPlatform({ application, ...options })
}
