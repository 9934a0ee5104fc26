/** The heart of the service: the update log, the actors and what they stand on, built from adapters. */
import type { ApiKeyActor } from '../actors/api-key/actor.ts'
import { ApiKeys } from '../actors/api-key/all.ts'
import { Lease } from '../actors/credential/lease.ts'
import { missingPlatform } from '../actors/credential/missing-platform.ts'
import { StartBudget } from '../actors/credential/start-budget.ts'
import { CredentialSupervisor } from '../actors/credential/supervisor.ts'
import { ActorRegistry } from '../actors/host/registry.ts'
import { Supervision } from '../actors/host/supervision.ts'
import type { Platform } from '../actors/ports/platform.ts'
import type { Clock } from '../actors/ports/ports.ts'
import type { WebhookKey } from '../actors/ports/webhooks.ts'
import { failed, OwnershipLost } from '../machines/model/failure.ts'
import { FileIds } from './bot-api/file-id.ts'
import type { Config } from './config/config.ts'
import type { Fenced } from './credentials/fence.ts'
import { HealthBuffer } from './credentials/health-buffer.ts'
import { Ownership } from './credentials/ownership.ts'
import { PostgresCredentialStore } from './credentials/store.ts'
import { TimelineBuffer } from './credentials/timeline-buffer.ts'
import type { Database } from './database/database.ts'
import type { WriteWatch } from './database/write-watch.ts'
import { KeyGate } from './keys/gate.ts'
import { PostgresKeyStore } from './keys/store.ts'
import type { Finished } from './links/finish.ts'
import { LinkFlows } from './links/flows.ts'
import { limitLinks } from './links/limits.ts'
import { PostgresLinkStore } from './links/store.ts'
import type { Logger } from './observability/log.ts'
import type { Metrics } from './observability/metrics.ts'
import type { Vault } from './security/vault.ts'
import { Translator } from './translation/translator.ts'
import { PostgresUpdateLog } from './updates/log.ts'
import type { CallBack } from './webhooks/reply-call.ts'
import { Roster } from './webhooks/roster.ts'
import type { AttemptCounts } from './webhooks/tally.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

export interface CoreOptions {
  readonly db: Database
  readonly vault: Vault
  readonly config: Pick<Config, 'node' | 'timing' | 'rates' | 'limits' | 'startBudget' | 'webhooks'>
  readonly platforms: ReadonlyMap<string, Platform>
  readonly metrics: Pick<Metrics, 'committed' | 'actorRestarted'>
  readonly writes: WriteWatch
  readonly logger: Logger
  received(userId: number, credentialId: number, updates: number): void
  /** Attempts at delivering to a webhook have ended. */
  attempted?(key: WebhookKey, counts: AttemptCounts): void
  /** Has `wakeKey` called at that time, by whichever node runs then. */
  remindKey?(apiKeyId: number, at: Date): void
}

/** What is shown of an account that is out. */
const OUT: readonly string[] = ['logged_out', 'invalid', 'failed', 'deactivated']

type ReplyCall = (key: ApiKeyActor, call: CallBack, traceId: string) => Promise<unknown>

const LONGEST_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  // Node runs a longer timer at once.
  setTimeout: (work, milliseconds) => setTimeout(work, Math.min(milliseconds, LONGEST_MS)),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
}

export function createCore({
  db,
  vault,
  config,
  platforms,
  metrics,
  writes,
  logger,
  received,
  attempted = () => undefined,
  remindKey = () => undefined,
}: CoreOptions) {
  const clock = systemClock
  /** A write was refused: another node has claimed these since. */
  const fenced: Fenced = (lost) => ownership.lost(lost)
  const timeline = new TimelineBuffer(db, config.node, logger, fenced)
  const health = new HealthBuffer(db, logger, fenced)
  const store = new PostgresCredentialStore({
    db,
    vault,
    node: config.node,
    timeline,
    health,
    keysRevoked: async (ids) => {
      await Promise.all(ids.map(async (id) => (await keys.awake(id))?.revoke()))
    },
  })
  let replyCall: ReplyCall = async () => undefined
  const webhooks = createWebhooks({
    db,
    vault,
    logger,
    node: config.node,
    config: config.webhooks,
    updates: () => updates,
    flushCursors: () => keyStore.flush(),
    call: async (apiKeyId, call, traceId) => replyCall(await keys.find(apiKeyId), call, traceId),
    remind: (apiKeyId, at) => remindKey(apiKeyId, new Date(at)),
    counted: attempted,
    changed(apiKeyId, hasWebhook) {
      const actor = keys.peek(apiKeyId)
      if (actor) roster.changed(actor, hasWebhook)
    },
    crashed: () => metrics.actorRestarted('webhook'),
    fenced,
  })
  const keyStore: PostgresKeyStore = new PostgresKeyStore(db, logger, webhooks.factsOf, fenced)

  /** The platform of a credential that this node runs. */
  const platformOf = (credentialId: number): Platform => {
    const id = supervisor.factsOf(credentialId)?.platform
    if (id !== undefined) return platforms.get(id) ?? missingPlatform(id)
    throw failed('unavailable', 'the credential is starting', {
      reason: 'starting',
      retryAfterSeconds: 1,
    })
  }
  const fileIds = new FileIds(vault.derive('file-id'))
  const translator = new Translator(db, fileIds, (credentialId) => platformOf(credentialId).ids)
  const updates: PostgresUpdateLog = new PostgresUpdateLog(db, translator, {
    committed(updates, seconds) {
      metrics.committed(updates, seconds)
      writes.committed()
    },
    notCommitted: (cause) => writes.notCommitted(cause),
    received: (credentialId, updates) => {
      const facts = supervisor.factsOf(credentialId)
      if (facts) received(facts.userId, credentialId, updates)
      roster.received(credentialId)
    },
  })
  const budget = new StartBudget(config.startBudget)
  const lease = new Lease()
  const supervisor: CredentialSupervisor = new CredentialSupervisor({
    platforms,
    store,
    updates,
    storage: writes,
    identities: translator,
    budget,
    clock,
    logger,
    timing: config.timing,
    lease,
    lost: (owned) => ownership.lost([owned]),
    claimed: (credentialId) => void roster.begin(credentialId),
    onCrash: () => metrics.actorRestarted('credential'),
  })
  const ownership: Ownership = new Ownership({
    store,
    supervisor,
    lease,
    logger,
    lost(credentialIds) {
      apiKeys.leave(credentialIds)
      for (const id of credentialIds) {
        roster.forget(id)
        updates.close(id)
        translator.forget(id)
      }
    },
  })

  let isGoingDown = false
  const apiKeys = new ApiKeys({
    updates,
    keys: keyStore,
    clock,
    logger,
    rates: config.rates,
    callsInFlight: config.limits.callsInFlight,
    webhooks: webhooks.port,
    whyOut: (credentialId) => supervisor.whyOut(credentialId)?.failure,
  })
  const onCrash = (kind: string) => metrics.actorRestarted(kind)
  const keys: ActorRegistry<number, ApiKeyActor> = new ActorRegistry<number, ApiKeyActor>(
    (apiKeyId) => beginKey(apiKeyId),
    new Supervision({ kind: 'key', clock, onCrash }),
  )
  /** A key lives where its credential is owned; one that is revoked only says so. */
  const beginKey = async (apiKeyId: number): Promise<ApiKeyActor> => {
    let facts = await keyStore.load(apiKeyId)
    if (!facts) throw failed('not_found')
    const { credentialId } = facts
    const held = supervisor.factsOf(credentialId)
    if (!facts.revoked && held?.epoch !== facts.epoch) {
      if (held) ownership.lost([held])
      await supervisor.start(credentialId)
      facts = (await keyStore.load(apiKeyId)) ?? facts
    }
    await updates.open(credentialId)
    const isOwned = supervisor.factsOf(credentialId)?.epoch === facts.epoch
    if (!isOwned && !facts.revoked) throw new OwnershipLost()
    const key = apiKeys.begin(facts)
    if (isGoingDown) key.endPolls()
    return key
  }
  timeline.watchAll(({ credentialId, publicState }) => {
    if (!OUT.includes(publicState)) return
    for (const [, key] of keys.live()) if (key.facts.credentialId === credentialId) key.accountOut()
  })
  const roster = new Roster({
    db,
    logger,
    owns: (credentialId) => supervisor.factsOf(credentialId) !== undefined,
    peek: (id) => keys.peek(id),
    find: (id) => keys.find(id),
  })

  const gate = new KeyGate(
    {
      peek: (id) => keys.peek(id),
      load: (id) => keyStore.load(id),
      find: (id) => keys.find(id),
    },
    () => clock.now(),
    (id) => keyStore.noteUse(id),
    config.limits.wrongKeys,
    config.limits.callsPerKey,
  )

  const linked = async ({ credentialId, relinked, epoch }: Finished) => {
    const held = supervisor.factsOf(credentialId)
    if (held && held.epoch !== epoch) ownership.lost([held])
    const actor = relinked ? supervisor.peek(credentialId) : undefined
    if (actor?.isActive) await actor.ask({ type: 'credential.relinked' })
    else await supervisor.take(credentialId)
  }
  const linkStore = new PostgresLinkStore(db, vault, linked, (id) => supervisor.factsOf(id))
  const links = new LinkFlows({
    store: linkStore,
    platforms,
    clock,
    logger,
    answerTakes: config.timing.performTakes,
    gate: limitLinks(db, vault, config.limits.links),
    onCrash,
  })

  return {
    clock,
    platforms,
    updates,
    store,
    keyStore,
    keys,
    gate,
    supervisor,
    ownership,
    translator,
    fileIds,
    timeline,
    links,
    /** Begins the credential's actor if this node does not run it yet. */
    async platformOf(credentialId: number): Promise<Platform> {
      await supervisor.start(credentialId)
      return platformOf(credentialId)
    },

    webhooks,
    roster,

    /** What becomes of a call that the answer to a webhook carries. */
    onReplyCall(carryBack: ReplyCall): void {
      replyCall = carryBack
    },

    /** Held polls are answered with nothing. */
    endPolls(): void {
      isGoingDown = true
      for (const [, key] of keys.live()) key.endPolls()
    },

    /** Actors stop, and what is buffered is written. */
    async stop(): Promise<void> {
      await links.stop()
      ownership.stop()
      await supervisor.stop()
      roster.stop()
      const delivering = [...keys.live()].map(([, key]) => key)
      await keys.stop()
      await Promise.all(delivering.map((key) => key.settled))
      await webhooks.flush()
      await Promise.all([keyStore.flush(), timeline.flush(), health.flush()])
    },
  }
}

export type Core = ReturnType<typeof createCore>
