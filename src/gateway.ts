/** The composition root: every adapter is built here and handed to those who need it. */
import type { Platform } from '../actors/platform.ts'
import { createAccounts } from './accounts/accounts.ts'
import { consoleOtpLimits, defaultOtpLimits } from './accounts/limits.ts'
import { createSender } from './accounts/senders/create.ts'
import type { Config } from './config.ts'
import { createCore } from './core.ts'
import { startAll } from './credentials/roster.ts'
import { openDatabase } from './database/database.ts'
import { migrate } from './database/migrate.ts'
import { openOrm } from './database/orm.ts'
import { listen } from './http/listen.ts'
import { createReadiness } from './http/readiness.ts'
import { createJobs } from './jobs/jobs.ts'
import { everyHour, watchActors } from './maintenance.ts'
import type { Logger } from './observability/log.ts'
import { createMetrics } from './observability/metrics.ts'
import { openRequestJournal } from './observability/request-journal.ts'
import { createSandbox } from './platforms/sandbox/sandbox.ts'
import { xmppPlatform } from './platforms/xmpp/platform.ts'
import { openVault } from './security/vault.ts'

export interface Gateway {
  readonly core: ReturnType<typeof createCore>
  /** Where it listens, as an address on this machine. */
  readonly address: string
  stop(): Promise<void>
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

/** What was opened before a failure is closed again, last first. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const { address, core } = await open(options, opened)
  const toClose = opened.move()
  return { core, address, stop: () => toClose.disposeAsync() }
}

async function open(options: GatewayOptions, opened: AsyncDisposableStack) {
  const { config, databaseUrl, logger, print } = options
  for (const name of await migrate(databaseUrl)) logger.info({ migration: name }, 'migrated')
  const db = openDatabase({ url: databaseUrl, log: logger })
  opened.defer(() => db.close())
  const orm = await openOrm(databaseUrl)
  opened.defer(() => orm.close())
  const vault = await openVault({ db, keyFile: config.keyFile, log: logger })
  const rewrapped = await vault.rewrap()
  if (rewrapped > 0) logger.info({ rewrapped }, 'data keys are under the newest key now')
  const metrics = createMetrics({ ofProcess: true })
  const retentionDays = config.retention.requestDays
  const journal = openRequestJournal({ database: db, metrics, log: logger, retentionDays })
  opened.defer(() => journal.close())
  const redis = config.redisUrl === undefined ? {} : { redisUrl: config.redisUrl }
  const jobs = await createJobs({ databaseUrl, log: logger, ...redis })
  opened.defer(() => jobs.close())
  const sender = createSender(config.otpSender, { production: config.production, print })
  opened.defer(() => sender.close())
  const issuer = config.baseUrls[0]
  const limits = sender.channel === 'console' ? consoleOtpLimits : defaultOtpLimits
  const accounts = createAccounts({ db, orm, vault, jobs, sender, issuer, limits, log: logger })

  const sandbox = config.sandbox ? createSandbox({ db, log: logger }) : undefined
  if (sandbox) opened.defer(() => sandbox.close())
  const platforms = [
    ...(sandbox ? [sandbox.platform] : []),
    // A server on loopback is for trying out: in production it would be a way into this machine.
    xmppPlatform({ log: logger, allowPrivate: !config.production }),
    ...(options.platforms ?? []),
  ]
  const core = createCore({
    db,
    vault,
    config,
    platforms: new Map(platforms.map((platform) => [platform.id, platform])),
    metrics,
    logger,
    received: (userId, credentialId, updatesReceived) =>
      journal.count({ userId, credentialId }, { updatesReceived }),
  })
  opened.defer(() => core.stop())

  await accounts.start()
  everyHour(jobs, { db, log: core.log, limits: config.retention, logger })
  jobs.start()
  const started = await startAll(core.store, core.log, core.supervisor)
  if (started > 0) logger.info({ credentials: started }, 'credentials are coming back')
  opened.defer(watchActors(core, { db, metrics, config, logger }))

  const readiness = createReadiness({ database: db, log: logger })
  const draining = new AbortController()
  const world = { config, logger, metrics, journal, readiness, accounts, core, db, sandbox }
  const { close, address } = await listen({ ...world, draining: draining.signal })
  opened.defer(async () => {
    readiness.drain()
    draining.abort()
    core.endPolls()
    await close()
  })
  return { address, core }
}
