/** Starts the service, prints its addresses, and stops it in reverse order. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { type Config, readConfig } from './config/config.ts'
import { prepareFolder } from './config/data-folder.ts'
import { ConfigurationError } from './config/environment.ts'
import { assertDurable } from './database/durability.ts'
import { type KeptPostgres, keepRunning } from './database/embedded/supervisor.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { assertFree } from './http/server.ts'
import { runNodes, takeOrders, tellStarted } from './nodes/processes.ts'
import { createLogger } from './observability/logger.ts'
import { concerning, exitCodes, onUncaught, StartFailure } from './process/fatal-errors.ts'

const howToSignIn: Record<Config['otpSender']['kind'], string> = {
  console: 'the code is printed here',
  smtp: 'the code comes by e-mail',
  http: 'the code comes by SMS',
}

function welcome(config: Config): string {
  const { baseUrls, panelUrls, otpSender, sandbox, host } = config
  const [panel] = panelUrls
  const [home, abroad] = baseUrls
  const lines = [
    '',
    'Chapar is running.',
    `  Panel          ${panel}/dashboard`,
    `  API            ${home}`,
    ...(abroad === home ? [] : [`  International  ${abroad}`]),
    `  Bot API        ${home}/bot<API_KEY>/<METHOD>`,
    `  Documentation  ${home}/docs`,
    ...(isLoopback(host) ? ['  Reachable from this machine only; HOST=0.0.0.0 opens it'] : []),
    ...(sandbox ? [`  Sandbox        ${home}/sandbox/people`] : []),
    '',
    `Sign in (${howToSignIn[otpSender.kind]}):`,
    `  curl ${home}/auth/sendOtp -H 'content-type: application/json' -d '{"phone":"+14155550123"}'`,
    `  curl ${home}/auth/login -H 'content-type: application/json' -d '{"phone":"+14155550123","otp":"…"}'`,
    '',
  ]
  return lines.join('\n')
}

const isLoopback = (host: string) => /^(127\.|::1$|localhost$)/.test(host)

/** Limit for a stop, in addition to the time for the load balancer (`DRAIN_SECONDS`). */
const STOP_WITHIN_MS = 20_000
const START_WITHIN_MS = 10_000

const config = configured()
const logger = createLogger({ level: config.logLevel })
const print = (line: string) => process.stdout.write(`${line}\n`)

// A rejection that no code handles is a defect of one request: the process goes on.
process.on('unhandledRejection', (err) => logger.error({ err }, 'a rejection was not handled'))

// An error that certainly concerns one connection ends that connection; any other one stops the process in order.
process.setUncaughtExceptionCaptureCallback((err) => onUncaught(err, logger))

const orders = await takeOrders()
if (config.nodes > 1 && !orders) process.exit(await manyNodes())

const prepared = concerning('DATA_DIR', prepareFolder(config.dataDir))
/** Pending while the server starts. */
const postgres =
  config.databaseUrl === undefined && !orders ? prepared.then(embeddedPostgres) : undefined
const starting = start()
let isStopping = false

const delay = STOP_WITHIN_MS + config.drainMs
const closing = { delay, logger, skip: ['unhandledRejection' as const] }
closeWithGrace(closing, async ({ err, signal }) => {
  isStopping = true
  if (err) logger.error({ err }, 'the service ends on an error')
  try {
    const gateway = await soon(starting)
    // Only SIGTERM comes from a deployment with a load balancer. After Ctrl-C or an error there is no reason to wait.
    await gateway?.stop({ atOnce: signal !== 'SIGTERM' })
  } finally {
    await stopPostgres()
  }
  print('Stopped.')
})

try {
  await starting
  if (!isStopping && orders?.isFirst !== false) print(welcome(config))
  tellStarted()
} catch (err) {
  // A stop during the start closes the database under it: that error is not worth a message.
  if (!isStopping) {
    await stopPostgres()
    tellFailure(err)
    process.exit(exitCodes.cannotStart)
  }
}

/** This process only keeps the database and starts the others. */
async function manyNodes(): Promise<number> {
  const { dataDir, databaseUrl, host, port, metrics, node: name, nodes: count } = config
  try {
    await concerning('DATA_DIR', prepareFolder(dataDir))
    await concerning('PORT, HOST', assertFree(host, port))
    const postgres = databaseUrl === undefined ? await embeddedPostgres() : undefined
    const url = databaseUrl ?? postgres?.url() ?? ''
    const code = await runNodes({
      count,
      name,
      metricsPort: metrics.port,
      databaseUrl: url,
      logger,
    })
    await postgres?.stop()
    return code
  } catch (err) {
    tellFailure(err)
    return exitCodes.cannotStart
  }
}

async function embeddedPostgres(): Promise<KeptPostgres> {
  return keepRunning({ dir: join(config.dataDir, 'postgres'), logger })
}

async function start(): Promise<Gateway> {
  await prepared
  return startGateway({ config, databaseUrl: durableDatabase(), logger, print })
}

async function durableDatabase(): Promise<string> {
  const url = orders?.databaseUrl ?? config.databaseUrl ?? (await postgres)?.url() ?? ''
  if (config.databaseUrl !== undefined) {
    await assertDurable({ url, production: config.production, logger })
  }
  return url
}

/** Waits a while for the start, because a half-open service cannot be closed in order. Undefined if the start failed. */
function soon(starting: Promise<Gateway>): Promise<Gateway | undefined> {
  return Promise.race([starting.catch(() => undefined), pause(START_WITHIN_MS, undefined)])
}

async function stopPostgres(): Promise<void> {
  // The start has reported its own failure above.
  const started = await postgres?.catch(() => undefined)
  await started?.stop()
}

/** Prints the last line. An unexpected error also needs its stack. */
function tellFailure(err: unknown): void {
  if (!(err instanceof StartFailure)) {
    logger.fatal({ err }, 'the service could not start')
    return
  }
  logger.debug({ err }, 'the service could not start')
  process.stderr.write(`chapar: ${err.message}\n`)
}

/** A mistake in the configuration is reported with its variable and without a stack. */
function configured(): Config {
  try {
    return readConfig()
  } catch (err) {
    if (!(err instanceof ConfigurationError)) throw err
    process.stderr.write(`chapar: ${err.message}\n`)
    process.exit(exitCodes.misconfigured)
  }
}
