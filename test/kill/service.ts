/** The service as the kill test runs it, a process to be killed: real core and bot routes, the spool as platform. */
import { flushCompileCache } from 'node:module'
import { createCore } from '../../src/core.ts'
import { startAll } from '../../src/credentials/roster.ts'
import { openDatabase } from '../../src/database/database.ts'
import { botRoutes } from '../../src/http/bot/routes.ts'
import { createServer } from '../../src/http/server.ts'
import { createLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { openRequestJournal } from '../../src/observability/request-journal.ts'
import { openVault } from '../../src/security/vault.ts'
import { spoolPlatform } from './spool-platform.ts'

// A test that is cut short leaves nothing running.
process.stdin.once('close', () => process.exit()).resume()

const { KILL_DATABASE_URL = '', KILL_KEY_FILE = '', KILL_PORT, SPOOL_PORT } = process.env
const acknowledgesEarly = process.env.SPOOL_ACKNOWLEDGES_EARLY === 'true'

const logger = createLog({ level: 'silent' })
const db = openDatabase({ url: KILL_DATABASE_URL, log: logger })
const metrics = createMetrics()
const journal = openRequestJournal({ database: db, metrics, log: logger })
const platform = spoolPlatform({ port: Number(SPOOL_PORT), acknowledgesEarly })
const unlimited = { perSecond: 1e6, burst: 1e6 }
const core = createCore({
  db,
  vault: await openVault({ db, keyFile: KILL_KEY_FILE, log: logger }),
  config: {
    node: 'kill-test',
    startBudget: 20,
    rates: { key: unlimited, chat: unlimited },
    timing: {
      probeEvery: 60_000,
      probeAgain: 15_000,
      probeTakes: 10_000,
      performTakes: 30_000,
      signOutTakes: 10_000,
      passivateAfter: 300_000,
    },
  },
  platforms: new Map([[platform.id, platform]]),
  metrics,
  logger,
  received: (userId, credentialId, updatesReceived) =>
    journal.count({ userId, credentialId }, { updatesReceived }),
})
await startAll(core.store, core.log, core.supervisor)

const server = await createServer({
  log: logger,
  requestLog: { journal, metrics },
  trustProxy: false,
})
await server.register(botRoutes, {
  gate: core.gate,
  credentials: core.supervisor,
  platformOf: core.platformOf,
  world: {
    profile: () => Promise.reject(new Error('not asked for here')),
    pendingUpdates: async () => 0,
    dropped: async () => undefined,
    delivered: () => undefined,
  },
})
await server.listen({ host: '127.0.0.1', port: Number(KILL_PORT) })
// A killed process writes nothing: the next one would have to compile everything again.
flushCompileCache()
