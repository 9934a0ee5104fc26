/** What the delivery of webhooks needs from the world, built from its parts. */
import type { WebhookEndpoint, WebhookKey, Webhooks } from '../../actors/webhook-ports.ts'
import type { WebhookTarget } from '../../machines/webhook-terms.ts'
import type { Arguments } from '../bot-api/arguments.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'
import type { Resolve } from '../net/resolve.ts'
import { resolveAnything, resolvePublic } from '../net/resolve.ts'
import type { Vault } from '../security/vault.ts'
import type { PostgresUpdateLog } from '../updates/log.ts'
import { updateJson } from '../updates/row.ts'
import { shownUrl } from './address.ts'
import { DeliveryLog } from './delivery-log.ts'
import type { Reply } from './exchange.ts'
import { webhookEnds } from './info.ts'
import { laneOf } from './lane.ts'
import { Pace } from './pace.ts'
import { ProgressStore } from './progress-store.ts'
import { callIn } from './reply-call.ts'
import { SigningSecrets, secretsInForce } from './secrets.ts'
import { Sender, type SenderOptions } from './sender.ts'
import { signatures } from './signature.ts'
import { WebhookStates } from './states.ts'
import { WebhookStore } from './store.ts'
import { type AttemptCounts, AttemptTally } from './tally.ts'

export interface WebhookOptions {
  readonly db: Database
  readonly vault: Vault
  readonly logger: Log
  readonly config: {
    readonly allowPrivate: boolean
    readonly timeoutMs: number
    readonly logDays: number
  }
  readonly resolve?: Resolve
  log(): PostgresUpdateLog
  flushCursors(): Promise<void>
  /** A call that an answer carried, made like any other of this key. */
  call(apiKeyId: number, args: Arguments, traceId: string): Promise<unknown>
  remind(apiKeyId: number, at: number): void
  counted(key: WebhookKey, counts: AttemptCounts): void
  changed(apiKeyId: number, hasWebhook: boolean): void
}

export function createWebhooks(options: WebhookOptions) {
  const { db, vault, logger, config } = options
  const resolve = options.resolve ?? (config.allowPrivate ? resolveAnything : resolvePublic)
  const { allowPrivate, timeoutMs } = config
  const secrets = new SigningSecrets(db, vault)
  const states = new WebhookStates(db, logger)
  const deliveries = new DeliveryLog(db, logger, config.logDays)
  const progress = new ProgressStore(db)
  const tally = new AttemptTally(options.counted)
  const flush = async () => {
    await Promise.all([states.flush(), options.flushCursors()])
  }
  const store = new WebhookStore({ db, vault, reach: { allowPrivate, resolve }, flush })

  /** Every attempt is recorded under its address. */
  const shown = new WeakMap<WebhookTarget, string>()

  const port: Webhooks = {
    open(key, target) {
      shown.set(target, shownUrl(target.url))
      return new Endpoint(key, target, { allowPrivate, timeoutMs, resolve }, parts)
    },
    async read(key, { filter, after, limit }) {
      const { credentialId, apiKeyId } = key
      const reader = { credentialId, apiKeyId, filter, after, limit }
      const { rows, head } = await options.log().rows(reader)
      const updates = rows.map((row) => ({
        updateId: row.updateId,
        lane: laneOf(row),
        body: updateJson(row),
        traceId: row.traceId ?? undefined,
      }))
      return { updates, head }
    },
    saveProgress: (apiKeyId, read) => progress.save(apiKeyId, read),
    saveState: (apiKeyId, state) => states.save(apiKeyId, state),
    record(key, target, attempt) {
      states.ended(key.apiKeyId, attempt)
      deliveries.add(key, shown.get(target) ?? '', attempt)
      tally.add(key, attempt.ok)
    },
    dropped(apiKeyId) {
      db.query(
        'update api_key set dropped_updates = dropped_updates + 1, dropped_at = now() where id = $1',
        [apiKeyId],
      ).catch((err) => logger.warn({ err, apiKeyId }, 'a dropped update was not counted'))
    },
    remind: (apiKeyId, at) => options.remind(apiKeyId, at),
    async change(apiKeyId, change, cursor) {
      const changed = await store.change(apiKeyId, change, cursor)
      options.changed(apiKeyId, changed.webhook !== undefined)
      return changed
    },
  }
  const parts = { secrets, logger, call: options.call }

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

export type WebhookWorld = ReturnType<typeof createWebhooks>

interface Parts {
  readonly secrets: SigningSecrets
  readonly logger: Log
  call(apiKeyId: number, args: Arguments, traceId: string): Promise<unknown>
}

class Endpoint implements WebhookEndpoint {
  readonly #apiKeyId: number
  readonly #sender: Sender
  readonly #parts: Parts

  constructor(
    { apiKeyId }: WebhookKey,
    target: WebhookTarget,
    sender: SenderOptions,
    parts: Parts,
  ) {
    this.#apiKeyId = apiKeyId
    this.#sender = new Sender(target, sender)
    this.#parts = parts
  }

  async deliver(
    { updateId, body }: { updateId: number; body: string },
    signal: AbortSignal,
  ): ReturnType<WebhookEndpoint['deliver']> {
    const now = Date.now()
    const began = performance.now()
    const { secrets } = this.#parts
    const known = secrets.known(this.#apiKeyId) ?? (await secrets.load(this.#apiKeyId))
    // The same for every attempt, so that a receiver can tell what it has seen.
    const id = `${this.#apiKeyId}-${updateId}`
    const timestamp = Math.floor(now / 1000)
    const headers = ['webhook-id', id, 'webhook-timestamp', `${timestamp}`]
    const inForce = secretsInForce(known.found, now)
    if (inForce.length > 0) {
      headers.push('webhook-signature', signatures({ id, timestamp, body }, inForce))
    }
    const sent = await this.#sender.send(body, headers, signal)
    if (sent.reply) void this.#carryOut(sent.reply, id)
    const { status, error, retryAfterMs } = sent
    const durationMs = performance.now() - began
    return { ok: error === undefined, status, error, retryAfterMs, durationMs }
  }

  close(): void {
    this.#sender.close()
  }

  /** Its outcome is nobody's business: the receiver has gone. */
  async #carryOut(reply: Reply, traceId: string): Promise<void> {
    const apiKeyId = this.#apiKeyId
    const args = await callIn(reply)
    if (!args) return
    await this.#parts.call(apiKeyId, args, traceId).catch((err) => {
      this.#parts.logger.warn({ err, apiKeyId }, 'a call in the answer to a webhook failed')
    })
  }
}
