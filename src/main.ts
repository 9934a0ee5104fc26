/** Starts the service, tells where it is, and stops it in reverse order. */
import { join } from 'node:path'
import closeWithGrace from 'close-with-grace'
import { type Config, readConfig } from './config.ts'
import { ConfigurationError } from './config-error.ts'
import { assertDurable } from './database/durability.ts'
import { type KeptPostgres, keepRunning } from './database/embedded/supervisor.ts'
import { startGateway } from './gateway.ts'
import { createLog } from './observability/log.ts'
import { welcome } from './welcome.ts'

const STOP_WITHIN_MS = 15_000

const config = configured()
const logger = createLog({ level: config.logLevel })
const print = (line: string) => process.stdout.write(`${line}\n`)

// It is somebody's defect, but not the end of everybody: what was under way has failed, and nothing else.
process.on('unhandledRejection', (err) => logger.error({ err }, 'a rejection was not handled'))

let postgres: KeptPostgres | undefined
try {
  if (config.databaseUrl === undefined) {
    postgres = await keepRunning({ dir: join(config.dataDir, 'postgres'), log: logger })
  }
  const databaseUrl = config.databaseUrl ?? postgres?.url() ?? ''
  await assertDurable({ url: databaseUrl, production: config.production, log: logger })
  const gateway = await startGateway({ config, databaseUrl, logger, print })
  print(welcome(config))
  const closing = { delay: STOP_WITHIN_MS, logger, skip: ['unhandledRejection' as const] }
  closeWithGrace(closing, async ({ err }) => {
    if (err) logger.error({ err }, 'the service ends on an error')
    await gateway.stop()
    await postgres?.stop()
    print('Stopped.')
  })
} catch (err) {
  logger.fatal({ err }, 'the service could not start')
  await postgres?.stop()
  process.exit(1)
}

/** Whoever mistyped a variable is told which, and needs no stack. */
function configured(): Config {
  try {
    return readConfig()
  } catch (err) {
    if (!(err instanceof ConfigurationError)) throw err
    process.stderr.write(`chapar: ${err.message}\n`)
    process.exit(1)
  }
}
