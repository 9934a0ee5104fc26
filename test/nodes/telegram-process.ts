/** The service with a Telegram that stands at TELEGRAM_ENTRANCE, where it is known by the number TELEGRAM_CLIENT. */
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { startGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { telegramPlatform } from '../../src/platforms/telegram/platform.ts'
import { trust } from '../support/telegram-dc/crypto.ts'

process.stdin.once('close', () => process.exit()).resume()

const { TELEGRAM_ENTRANCE = '', TELEGRAM_CLIENT, TELEGRAM_KEY = '' } = process.env
const { DATABASE_URL: url = '' } = process.env
await trust(TELEGRAM_KEY)
const config = readConfig(process.env)
const logger = createLogger({ level: config.logLevel })
const print = (line: string) => void process.stdout.write(`${line}\n`)
const db = openDatabase({ url, logger })
const telegram = telegramPlatform({
  application: { id: Number(TELEGRAM_CLIENT), hash: 'hash of the application' },
  entrance: JSON.parse(TELEGRAM_ENTRANCE),
  media: { open: () => Promise.reject(new Error('there are no files here')) },
  db,
  logger,
})
const gateway = await startGateway({
  config,
  databaseUrl: url,
  logger,
  print,
  platforms: [telegram],
})
process.once('SIGTERM', async () => {
  await gateway.stop()
  await db.close()
  process.exit()
})
print('Chapar is running')
