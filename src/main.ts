/** Starts the service, tells where it is, and stops it in reverse order. */
import { join } from 'node:path'
import closeWithGrace from 'close-with-grace'
import { readConfig } from './config.ts'
import { keepRunning } from './database/embedded/supervisor.ts'
import { startGateway } from './gateway.ts'
import { createLog } from './observability/log.ts'
import { welcome } from './welcome.ts'

const STOP_WITHIN_MS = 15_000

const config = readConfig()
const logger = createLog({ level: config.logLevel })
const print = (line: string) => process.stdout.write(`${line}\n`)

process.on('unhandledRejection', (err) => logger.error({ err }, 'a rejection was not handled'))

const postgres =
  config.databaseUrl === undefined
    ? await keepRunning({ dir: join(config.dataDir, 'postgres'), log: logger })
    : undefined
const databaseUrl = config.databaseUrl ?? postgres?.url() ?? ''

try {
  const gateway = await startGateway({ config, databaseUrl, logger, print })
  print(welcome(config))
  closeWithGrace({ delay: STOP_WITHIN_MS, logger }, async ({ err }) => {
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
