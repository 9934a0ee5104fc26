/** Builds the core of the service: the update log, the actors, and the stores and webhooks that they use. */
import { EventEmitter } from 'node:events'
import { type ApiKeyActor, ApiKeys } from '../../actors/api-key/actor.ts'
import { OwnUpdates } from '../../actors/credential/perform.ts'
import { CredentialSupervisor, idsOf, type Supervised } from '../../actors/credential/supervisor.ts'
import { StartBudget } from '../../actors/credential/world.ts'
import { ActorRegistry } from '../../actors/host/actor.ts'
import { Supervision } from '../../actors/host/host.ts'
import { Turns } from '../../actors/host/time.ts'
import { Lease } from '../../actors/node/lease.ts'
import type { Platform } from '../../actors/ports/platform.ts'
import type { Clock, LostCredential, Owned } from '../../actors/ports/ports.ts'
import { failed, OwnershipLost } from '../../machines/model/failure.ts'
import type { Suspensions } from '../accounts/suspensions.ts'
import { FileIds } from '../bot-api/file-id.ts'
import type { Config } from '../config/config.ts'
import type { Fenced } from '../credentials/fence.ts'
import { HealthBuffer } from '../credentials/health.ts'
import { Ownership } from '../credentials/ownership.ts'
import { PostgresCredentialStore } from '../credentials/store.ts'
import { shareTransitions, TimelineBuffer } from '../credentials/timeline.ts'
import type { Database } from '../database/database.ts'
import type { WriteWatch } from '../database/write-watch.ts'
import type { WebhookReminders } from '../jobs/jobs.ts'
import { KeyGate } from '../keys/gate.ts'
import { endRevoked } from '../keys/service.ts'
import { PostgresKeyStore } from '../keys/store.ts'
import type { KeysWantedUpdates } from '../keys/wanted-updates.ts'
import { onLinked } from '../links/finish.ts'
import { LinkFlows } from '../links/flows.ts'
import { limitLinks } from '../links/limits.ts'
import { PostgresLinkStore } from '../links/store.ts'
import type { Bus } from '../nodes/bus.ts'
import { claimsNothing, type Nodes, steadyClock } from '../nodes/nodes.ts'
import { Takeovers } from '../nodes/takeovers.ts'
import type { Logger } from '../observability/logger.ts'
import type { FencedTable, Metrics } from '../observability/metrics.ts'
import type { RequestJournal } from '../observability/request-journal.ts'
import type { GuessCount } from '../security/rate-limits.ts'
import type { Vault } from '../security/vault.ts'
import { Translator } from '../translation/translator.ts'
import { PostgresUpdateLog } from '../updates/log.ts'
import { ReplyCalls } from '../webhooks/reply-call.ts'
import { countAttempts } from '../webhooks/states.ts'
import { openWebhook } from '../webhooks/store.ts'
import { WebhookWaker } from '../webhooks/waker.ts'
import { createWebhooks } from '../webhooks/webhooks.ts'

/** Public states of accounts that get nothing any more. */
const OUT: readonly string[] = ['logged_out', 'invalid', 'failed', 'deactivated']

const LONGEST_MS = 2 ** 31 - 1

const systemClock: Clock = {
  now: Date.now,
  steadyNow: () => performance.now(),
  // Node would run a longer timer at once.
  setTimeout: (work, milliseconds) => setTimeout(work, Math.min(milliseconds, LONGEST_MS)),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
}

interface CoreOptions {
  readonly db: Database
  readonly vault: Vault
  readonly config: Pick<Config, 'node' | 'timing' | 'rates' | 'limits' | 'startBudget' | 'webhooks'>
  readonly platforms: ReadonlyMap<string, Platform>
  readonly metrics: Pick<
    Metrics,
    'committed' | 'actorRestarted' | 'fencedWrites' | 'tookOver' | 'tookOverWithin'
  >
  readonly journal: Pick<RequestJournal, 'count'>
  readonly wanted: Pick<KeysWantedUpdates, 'changed' | 'names'>
  readonly writes: WriteWatch
  readonly nodes: Pick<Nodes, 'view' | 'onHeard'> &
    Partial<Pick<Nodes, 'endedForCertain' | 'silentMs' | 'hasSuccessors'>>
  readonly limits: { readonly wrongKeys: GuessCount }
  /** Absent: nobody is ever suspended. */
  readonly suspensions?: Pick<Suspensions, 'ofKeys' | 'onChange'>
  /** Absent: there are no other nodes. */
  readonly bus?: Pick<Bus, 'tell' | 'on' | 'onGap'>
  /** Absent: a webhook that rests is looked for by the sweep alone. */
  readonly reminders?: Pick<WebhookReminders, 'set'>
  readonly logger: Logger
}

/** Announcements of one part that a part built later acts on. */
interface CoreEvents {
  /** A write was refused: another node has claimed these credentials. */
  fenced: [lost: readonly LostCredential[]]
  /** This node has stopped acting for these credentials. */
  lost: [credentialIds: ReadonlySet<number>]
  /** A credential was claimed by itself, because a request asked for it. */
  claimed: [credentialId: number]
  deleted: [credentialId: number]
  /** Updates of a credential were committed. */
  received: [credentialId: number, updates: number]
  webhookChanged: [apiKeyId: number, hasWebhook: boolean]
  keysRevoked: [apiKeyIds: readonly number[]]
}

export type Core = ReturnType<typeof createCore>

export function createCore(options: CoreOptions) {
  const { db, vault, config, platforms, metrics, writes, nodes, wanted, logger } = options
  const { suspensions } = options
  const clock = systemClock
  const events = new EventEmitter<CoreEvents>()
  const fenced: Fenced = (lost) => void events.emit('fenced', lost)
  const fencedIn =
    (table: FencedTable): Fenced =>
    (lost) => {
      metrics.fencedWrites(table, lost.length)
      fenced(lost)
    }
  const onCrash = (kind: string) => metrics.actorRestarted(kind)
  const owned = new Map<number, Supervised>()
  const factsOf = (credentialId: number) => owned.get(credentialId)?.facts
  const incarnation = () => nodes.view().incarnation ?? null
  const isLeaving = () => claimsNothing(nodes.view(), nodes.hasSuccessors?.())

  const fileIds = new FileIds(vault.derive('file-id'))
  const ids = idsOf(platforms, owned)
  const translator = new Translator(db, fileIds, ids, wanted, fencedIn('message_identity'))
  const updates = new PostgresUpdateLog(db, translator, {
    committed(count, seconds) {
      metrics.committed(count, seconds)
      writes.committed()
    },
    fenced: () => metrics.fencedWrites('update_log', 1),
    notCommitted: (cause) => writes.notCommitted(cause),
    received: (credentialId, count) => void events.emit('received', credentialId, count),
  })

  const keyStore = new PostgresKeyStore(
    db,
    logger,
    (apiKeyId, row) => openWebhook(vault, apiKeyId, row),
    fencedIn('api_key'),
    (apiKeyId) => wanted.changed(apiKeyId),
  )
  const replyCalls = new ReplyCalls()
  const webhooks = createWebhooks({
    db,
    vault,
    logger,
    node: config.node,
    config: config.webhooks,
    updates,
    flushCursors: () => keyStore.flush(),
    call: (apiKeyId, call, traceId) => replyCalls.execute(apiKeyId, call, traceId),
    remind: (apiKeyId, at) => options.reminders?.set(apiKeyId, at),
    counted: countAttempts(options.journal),
    changed: (apiKeyId, has) => void events.emit('webhookChanged', apiKeyId, has),
    crashed: () => onCrash('webhook'),
    fenced: fencedIn('webhook'),
  })

  const timeline = new TimelineBuffer(db, config.node, logger, fencedIn('credential'))
  const health = new HealthBuffer(db, logger, fencedIn('credential'))
  const store = new PostgresCredentialStore({
    db,
    vault,
    node: { name: config.node, incarnation, isLeaving },
    timeline,
    health,
    fenced: fencedIn('credential'),
    keysRevoked: async (ids) => void events.emit('keysRevoked', ids),
    claimed: ({ credentialId, epoch, next }) => updates.opened(credentialId, epoch, next),
  })
  const lease = new Lease(steadyClock)
  nodes.onHeard((sentAt) => lease.heard(sentAt))
  const takeovers = new Takeovers({
    name: config.node,
    silentMs: (name) => nodes.silentMs?.(name),
    metrics,
  })
  timeline.watchAll((transition) => takeovers.changed(transition))
  const supervisor = new CredentialSupervisor({
    owned,
    platforms,
    store,
    updates,
    storage: writes,
    own: new OwnUpdates(),
    identities: translator,
    budget: new StartBudget(config.startBudget, clock),
    clock,
    logger,
    timing: config.timing,
    lease,
    formerOwnersEnded: async () => nodes.endedForCertain?.(),
    lost: (one) => fenced([one]),
    adopted: (facts) => takeovers.claimed(facts),
    claimed: (credentialId) => void events.emit('claimed', credentialId),
    deleted: (credentialId) => void events.emit('deleted', credentialId),
    onCrash: () => onCrash('credential'),
  })
  const ownership = new Ownership({
    store,
    supervisor,
    lease,
    logger,
    lost: (credentialIds) => void events.emit('lost', credentialIds),
  })

  const apiKeys = new ApiKeys({
    updates,
    keys: keyStore,
    clock,
    logger,
    rates: config.rates,
    callsInFlight: config.limits.callsInFlight,
    webhooks: webhooks.port,
    turns: new Turns(clock, (err) => logger.error({ err }, 'a turn failed')),
    whyOut: (credentialId) => supervisor.whyOut(credentialId)?.failure,
    suspensionOf: (userId) => suspensions?.ofKeys(userId),
  })
  const draining = new AbortController()
  const beginKey = keyBeginner({ keyStore, supervisor, ownership, updates, apiKeys, draining })
  const supervision = new Supervision<number>({ kind: 'key', clock, onCrash })
  const keys = new ActorRegistry<number, ApiKeyActor>(beginKey, supervision)
  const webhookWaker = new WebhookWaker({
    db,
    logger,
    owned,
    peek: (apiKeyId) => keys.peek(apiKeyId),
    find: (apiKeyId) => keys.find(apiKeyId),
  })
  const { wrongKeys } = options.limits
  const gate = new KeyGate(keys, keyStore, clock.now, wrongKeys, config.limits.callsPerKey)
  const links = new LinkFlows({
    store: new PostgresLinkStore({
      db,
      vault,
      platforms,
      incarnation,
      // It could not run what belongs to it.
      owner: () => (isLeaving() ? null : incarnation()),
      held: factsOf,
      onFinish: onLinked(supervisor, ownership, options.bus),
    }),
    platforms,
    clock,
    logger,
    answerTakes: config.timing.performTakes,
    gate: limitLinks(db, vault, config.limits.links),
    onCrash,
  })

  events.on('fenced', (lost) => ownership.lost(lost))
  options.bus?.on('relinked', (hint) => {
    const { credentialId, epoch } = hint as { credentialId: number; epoch: number }
    ownership.relinked(credentialId, epoch)
  })
  const forget = (credentialIds: ReadonlySet<number>) => {
    takeovers.lost(credentialIds)
    health.forget(credentialIds)
    for (const id of credentialIds) {
      webhookWaker.forget(id)
      updates.close(id)
      translator.leave(id)
    }
  }
  events.on('lost', (credentialIds) => {
    apiKeys.leave(credentialIds)
    forget(credentialIds)
  })
  events.on('deleted', (credentialId) => forget(new Set([credentialId])))
  events.on('claimed', (credentialId) => void webhookWaker.claimed(credentialId))
  events.on('received', (credentialId, updatesReceived) => {
    const facts = factsOf(credentialId)
    if (facts) options.journal.count({ userId: facts.userId, credentialId }, { updatesReceived })
    webhookWaker.received(credentialId)
  })
  events.on('webhookChanged', (apiKeyId, hasWebhook) => {
    const key = keys.peek(apiKeyId)
    if (key) webhookWaker.changed(key, hasWebhook)
  })
  events.on('keysRevoked', (apiKeyIds) => {
    const onDefect = (err: unknown) => logger.error({ err, apiKeyIds }, 'revoked keys did not end')
    endRevoked(apiKeyIds, (id) => keys.awake(id)).catch(onDefect)
  })
  suspensions?.onChange((userId, isSuspended) => {
    apiKeys.suspensionChanged(userId)
    if (isSuspended) {
      const onDefect = (err: unknown) => logger.error({ err, userId }, 'links did not end')
      links.endAll(userId).catch(onDefect)
      return
    }
    const theirs = [...owned].filter(([, { facts }]) => facts.userId === userId)
    void webhookWaker.resumed(theirs.map(([credentialId]) => credentialId))
  })
  const ownerOf = shareTransitions(timeline, factsOf, options.bus)
  timeline.watchAll(({ credentialId, publicState }) => {
    if (!OUT.includes(publicState)) return
    for (const [, key] of keys.live()) if (key.facts.credentialId === credentialId) key.accountOut()
  })

  const flush = async () => {
    await webhooks.flush()
    await Promise.all([keyStore.flush(), timeline.flush(), health.flush()])
  }

  return {
    clock,
    platforms,
    updates,
    store,
    keyStore,
    keys,
    heldPolls: () => apiKeys.heldPolls,
    gate,
    supervisor,
    ownership,
    lease,
    translator,
    fileIds,
    timeline,
    ownerOf,
    links,
    /** Whether this node runs it, and may act for it now. */
    actsFor: (credentialId: number) => owned.has(credentialId) && lease.isValid,
    webhooks,
    webhookWaker,
    replyCalls,

    /** Ends what this node runs of these; resolves once all that is buffered is stored. */
    async letGo(credentials: readonly Owned[]): Promise<void> {
      const ids = new Set(credentials.map(({ credentialId }) => credentialId))
      const theirs = [...keys.live()].filter(([, key]) => ids.has(key.facts.credentialId))
      const closing = [...ids].map((id) => supervisor.peek(id)?.closed)
      health.release(ids)
      ownership.letGo(credentials, true)
      // The next owner opens a session at once.
      await Promise.all([...ids].map((id) => supervisor.disconnected(id)))
      await Promise.all([...closing, ...theirs.map(([, key]) => key.settled)])
      await flush()
    },

    /** Held polls are answered with nothing, and no other one is held. */
    endPolls(): void {
      draining.abort()
      for (const [, key] of keys.live()) key.endPolls()
    },

    /** Held polls of these are answered with nothing; later ones are held. */
    endPollsOf(credentialIds: ReadonlySet<number>): void {
      for (const [, key] of keys.live()) {
        if (credentialIds.has(key.facts.credentialId)) key.letGo()
      }
    },

    /** Actors stop, and what is buffered is written. */
    async stop(): Promise<void> {
      await links.stop()
      ownership.stop()
      lease.stop()
      await supervisor.stop()
      webhookWaker.stop()
      const delivering = [...keys.live()].map(([, key]) => key)
      await keys.stop()
      await Promise.all(delivering.map((key) => key.settled))
      health.release()
      await flush()
    },
  }
}

interface KeyParts {
  readonly keyStore: PostgresKeyStore
  readonly supervisor: CredentialSupervisor
  readonly ownership: Ownership
  readonly updates: PostgresUpdateLog
  readonly apiKeys: ApiKeys
  readonly draining: AbortController
}

/** Begins the actor of a key where its credential is owned; the actor of a revoked key only says so. */
const keyBeginner =
  ({ keyStore, supervisor, ownership, updates, apiKeys, draining }: KeyParts) =>
  async (apiKeyId: number): Promise<ApiKeyActor> => {
    let facts = await keyStore.load(apiKeyId)
    if (!facts) throw failed('not_found')
    const { credentialId } = facts
    const held = supervisor.factsOf(credentialId)
    if (!facts.revoked && held?.epoch !== facts.epoch) {
      if (held && held.epoch < facts.epoch) ownership.lost([held])
      await supervisor.start(credentialId)
      facts = (await keyStore.load(apiKeyId)) ?? facts
    }
    await updates.open(credentialId)
    const isOwned = supervisor.factsOf(credentialId)?.epoch === facts.epoch
    if (!isOwned && !facts.revoked) throw new OwnershipLost()
    const key = apiKeys.begin(facts)
    if (draining.signal.aborted) key.endPolls()
    return key
  }
