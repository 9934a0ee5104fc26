/** Builds the parts of webhooks, and the port through which actors deliver. */
import type { Owned } from '../../actors/ports/ports.ts'
import type { WebhookKey, Webhooks } from '../../actors/ports/webhooks.ts'
import { OwnershipLost } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'
import type { Resolve } from '../net/guard.ts'
import { resolveAnything, resolvePublic } from '../net/guard.ts'
import type { Vault } from '../security/vault.ts'
import type { PostgresUpdateLog } from '../updates/log.ts'
import { updateJson } from '../updates/row.ts'
import { Connections } from './connections.ts'
import { DeliveryLog } from './delivery-log.ts'
import { Endpoint, type EndpointParts } from './endpoint.ts'
import { webhookEnds } from './info.ts'
import { laneOf } from './lane.ts'
import { Notices } from './notices.ts'
import { Pace } from './pace.ts'
import { ProgressStore } from './progress-store.ts'
import type { CallBack } from './reply-call.ts'
import { SigningSecrets } from './secrets.ts'
import { WebhookStates } from './states.ts'
import { WebhookStore } from './store.ts'
import { type AttemptCounts, AttemptTally } from './tally.ts'

export interface WebhookOptions {
  readonly db: Database
  readonly vault: Vault
  readonly logger: Log
  /** This node's name. */
  readonly node: string
  readonly config: {
    readonly allowPrivate: boolean
    readonly timeoutMs: number
    readonly logDays: number
  }
  readonly resolve?: Resolve
  updates(): PostgresUpdateLog
  flushCursors(): Promise<void>
  /** A call that an answer carried, made like any other of this key. */
  call(apiKeyId: number, call: CallBack, traceId: string): Promise<unknown>
  remind(apiKeyId: number, at: number): void
  counted(key: WebhookKey, counts: AttemptCounts): void
  changed(apiKeyId: number, hasWebhook: boolean): void
  /** A delivery crashed. */
  crashed(): void
  /** Told of credentials that another node has claimed. */
  fenced(lost: readonly Owned[]): void
}

const CRASHED = 'The delivery crashed inside the service; it goes on in a moment'
const CRASH_LOOP =
  'The delivery crashed again and again inside the service; it is tried every five minutes, and at once when the webhook is set again'

export function createWebhooks(options: WebhookOptions) {
  const { db, vault, logger, config } = options
  const resolve = options.resolve ?? (config.allowPrivate ? resolveAnything : resolvePublic)
  const { allowPrivate, timeoutMs } = config
  const secrets = new SigningSecrets(db, vault)
  const states = new WebhookStates(db, logger, options.fenced)
  const deliveries = new DeliveryLog(db, logger, config.logDays)
  const progress = new ProgressStore(db, options.fenced)
  const notices = new Notices({ db, logger, node: options.node })
  const tally = new AttemptTally(options.counted)
  const flush = async () => {
    await Promise.all([states.flush(), options.flushCursors()])
  }
  const store = new WebhookStore({ db, vault, reach: { allowPrivate, resolve }, flush })

  const parts: EndpointParts = {
    guard: { allowPrivate, resolve },
    timeoutMs,
    secrets,
    connections: new Connections(),
    logger,
    call: options.call,
    record(place, attempt) {
      states.ended(place.key, attempt)
      deliveries.add(place, attempt)
      tally.add(place.key, attempt.ok)
    },
  }
  const port: Webhooks = {
    open: (key, target) => new Endpoint(key, target, parts),
    async read(key, { filter, after, limit }) {
      const { credentialId, apiKeyId } = key
      const reader = { credentialId, apiKeyId, filter, after, limit }
      const { rows, head } = await options.updates().rows(reader)
      const updates = rows.map((row) => ({
        updateId: row.updateId,
        lane: laneOf(row),
        body: updateJson(row),
        traceId: row.traceId ?? undefined,
      }))
      return { updates, head }
    },
    saveProgress: (key, read, isRushed) => progress.save(key, read, isRushed),
    saveState: (key, state) => states.save(key, state),
    notify: (key, notice, since) => notices.notify(key, notice, since),
    crashed(key, { at, since, isGivenUp }) {
      const error = isGivenUp ? CRASH_LOOP : CRASHED
      states.ended(key, { at, durationMs: 0, ok: false, error })
      if (isGivenUp) notices.notify(key, 'crash_loop', since)
      options.crashed()
    },
    dropped({ apiKeyId, epoch }) {
      db.query(
        `update api_key k set dropped_updates = k.dropped_updates + 1, dropped_at = now()
           from credential c where k.id = $1 and c.id = k.credential_id and c.epoch = $2`,
        [apiKeyId, epoch],
      ).catch((err) => logger.warn({ err, apiKeyId }, 'a dropped update was not counted'))
    },
    remind: (apiKeyId, at) => options.remind(apiKeyId, at),
    async change(key, change, cursor) {
      const changed = await store.change(key, change, cursor).catch((cause) => {
        if (cause instanceof OwnershipLost) options.fenced([key])
        throw cause
      })
      options.changed(key.apiKeyId, changed.webhook !== undefined)
      return changed
    },
  }
  const pace = new Pace()

  return {
    port,
    secrets,
    /** What the methods about webhooks need. */
    calls: {
      allowPrivate,
      pace: (apiKeyId: number) => pace.take(apiKeyId),
      async ends(apiKeyId: number) {
        await states.flush()
        return webhookEnds(db, apiKeyId)
      },
    },
    factsOf: store.factsOf.bind(store),
    async flush(): Promise<void> {
      await Promise.all([states.flush(), deliveries.flush(), tally.flush()])
    },
  }
}
