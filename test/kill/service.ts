/** The service as the kill test runs it, a process to be killed: real core and routes, the spool or XMPP below. */
import { flushCompileCache } from 'node:module'
import { IdempotentCalls } from '../../src/bot-api/idempotency.ts'
import { profileStore } from '../../src/bot-api/methods/profile.ts'
import { createCore } from '../../src/composition/core.ts'
import { readConfig } from '../../src/config/config.ts'
import { claimUnowned, followNodes } from '../../src/credentials/ownership.ts'
import { openDatabase } from '../../src/database/database.ts'
import { openWriteProbe, WriteWatch } from '../../src/database/write-watch.ts'
import { botRoutes } from '../../src/http/bot/routes.ts'
import { createServer } from '../../src/http/server.ts'
import { KeysWantedUpdates } from '../../src/keys/wanted-updates.ts'
import { joinNodes } from '../../src/nodes/nodes.ts'
import { createLogger } from '../../src/observability/logger.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { RequestJournal } from '../../src/observability/request-journal.ts'
import { xmppPlatform } from '../../src/platforms/xmpp/platform.ts'
import { PostgresRooms } from '../../src/platforms/xmpp/rooms/kept.ts'
import { Guesses } from '../../src/security/rate-limits.ts'
import { openVault } from '../../src/security/vault.ts'
import { spoolPlatform } from './spool-platform.ts'

// A test that is cut short leaves nothing running.
process.stdin.once('close', () => process.exit()).resume()

const { KILL_DATABASE_URL = '', KILL_KEY_FILE = '', KILL_PORT, SPOOL_PORT } = process.env
const acknowledgesEarly = process.env.SPOOL_ACKNOWLEDGES_EARLY === 'true'

const logger = createLogger({ level: 'silent' })
const db = openDatabase({
  url: KILL_DATABASE_URL,
  logger,
  onUnavailable: (cause) => writes.suspect(cause),
})
const metrics = createMetrics()
const probe = openWriteProbe({ url: KILL_DATABASE_URL, node: 'kill-test', logger })
const writes = new WriteWatch({ probe: (bytes) => probe.write(bytes), logger })
const journal = new RequestJournal({ database: db, metrics, logger })
const vault = await openVault({ db, keyFile: KILL_KEY_FILE, logger })
const noFiles = () => Promise.reject(new Error('no files here'))
const platform =
  SPOOL_PORT === undefined
    ? xmppPlatform({
        logger,
        allowPrivate: true,
        media: { open: noFiles, facts: noFiles },
        rooms: new PostgresRooms({ db, vault }),
      })
    : spoolPlatform({ port: Number(SPOOL_PORT), acknowledgesEarly })
const unlimited = { perSecond: 1e6, burst: 1e6 }
const name = process.env.KILL_NODE ?? 'kill-test'
const node = { name, address: null, weight: 1, version: 'kill-test' }
const nodes = await joinNodes({ ...node, db, url: KILL_DATABASE_URL, logger, metrics })
const { limits } = readConfig({})
const core = createCore({
  nodes,
  limits: { wrongKeys: new Guesses(limits.wrongKeys) },
  db,
  vault,
  config: {
    node: name,
    startBudget: 20,
    limits,
    rates: { key: unlimited, chat: unlimited },
    webhooks: { allowPrivate: true, timeoutMs: 10_000, logDays: 30, bodyDays: 0, logSample: 1 },
    timing: {
      probeEvery: 60_000,
      probeAgain: 15_000,
      probeTakes: 10_000,
      performTakes: 30_000,
      signOutTakes: 10_000,
      holdFor: 5_000,
      passivateAfter: 300_000,
    },
  },
  platforms: new Map([[platform.id, platform]]),
  wanted: new KeysWantedUpdates(db),
  metrics,
  writes,
  logger,
  journal,
})
core.ownership.watch()
const claimed = (ids: readonly number[]) => core.webhookWaker.wakeBehind(ids)
const claiming = { ...core, nodes, metrics, logger, claimed }
await claimUnowned(claiming)
const owned = () => core.supervisor.owned()
followNodes({
  ...claiming,
  db,
  owned,
  logger,
  announce: () => undefined,
})

const server = await createServer({
  logger,
  requestLog: { journal, metrics },
  trustProxy: false,
})
await server.register(botRoutes, {
  gate: core.gate,
  credentials: core.supervisor,
  idempotentCalls: new IdempotentCalls(db, logger),
  uploads: { media: { spool: noFiles }, uploadBytes: 0 },
  world: {
    profile: () => Promise.reject(new Error('not asked for here')),
    profileStore: profileStore(db),
    media: { ingest: noFiles },
    paths: { issue: noFiles },
    fileIds: core.fileIds,
    pendingUpdates: async () => 0,
    dropped: async () => undefined,
    skipped: async () => undefined,
    whyOut: () => undefined,
    webhooks: core.webhooks.calls,
    delivered: () => undefined,
  },
})
await server.listen({ host: '127.0.0.1', port: Number(KILL_PORT) })
// A killed process writes nothing: the next one would have to compile everything again.
flushCompileCache()
