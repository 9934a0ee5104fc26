/** A process that is a node and nothing else, to be killed or frozen: NODE_URL is its database, NODE_NAME its name. */
import { openDatabase } from '../../src/database/database.ts'
import { joinNodes } from '../../src/nodes/nodes.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { createMetrics } from '../../src/observability/metrics.ts'

// A test that is cut short leaves nothing running.
process.stdin.once('close', () => process.exit()).resume()

const { NODE_URL: url = '', NODE_NAME: name = '' } = process.env
const logger = createLogger({ level: 'silent' })
const db = openDatabase({ url, logger })
const metrics = createMetrics()
const nodes = await joinNodes({
  db,
  url,
  logger,
  metrics,
  name,
  address: null,
  weight: 1,
  version: 'test',
})
process.once('SIGTERM', async () => {
  nodes.drain()
  await nodes.leave()
  process.exit()
})
process.stdout.write(`${nodes.view().incarnation}\n`)
