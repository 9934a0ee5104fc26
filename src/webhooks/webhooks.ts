/** Builds the parts of webhooks, and the port through which actors deliver. */

import { LRUCache } from 'lru-cache'
import type { Logger, Owned } from '../../actors/ports/ports.ts'
import type { WebhookKey, Webhooks } from '../../actors/ports/webhooks.ts'
import { failed, OwnershipLost } from '../../machines/model/failure.ts'
import { UPDATE_KINDS, type UpdateKind } from '../../machines/model/update-kinds.ts'
import type { Notice } from '../../machines/webhook/machine.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import { ExchangeLog } from '../exchanges/log.ts'
import { resolveAnything, resolvePublic } from '../net/resolver.ts'
import type { Vault } from '../security/vault.ts'
import type { PostgresUpdateLog } from '../updates/log.ts'
import type { ReadRows } from '../updates/read.ts'
import { type Row, updateJson } from '../updates/row.ts'
import { addressOf, type Reach } from './address.ts'
import { DeliveryLog } from './delivery-log.ts'
import { Connections, Endpoint, type EndpointParts } from './endpoint.ts'
import { ProgressStore } from './progress-store.ts'
import { webhookEnds } from './record.ts'
import type { ReplyCall } from './reply-call.ts'
import { SigningSecrets } from './secrets.ts'
import { type AttemptCounts, AttemptTally, WebhookStates } from './states.ts'
import { WebhookStore } from './store.ts'

interface WebhookOptions {
  readonly db: Database
  readonly vault: Vault
  readonly logger: Logger
  /** This node's name. */
  readonly node: string
  readonly config: Config['webhooks']
  readonly updates: Pick<PostgresUpdateLog, 'rows'>
  flushCursors(): Promise<void>
  /** Makes a call that an answer carries, like any other call of this key. */
  call(apiKeyId: number, call: ReplyCall, traceId: string): Promise<unknown>
  remind(apiKeyId: number, at: number): void
  counted(key: WebhookKey, counts: AttemptCounts): void
  changed(apiKeyId: number, hasWebhook: boolean): void
  /** Counts the crash of a delivery. */
  crashed(): void
  /** Gets credentials that another node has claimed. */
  fenced(lost: readonly Owned[]): void
}

const CRASHED = 'The delivery crashed inside the service; it goes on in a moment'
const CRASH_LOOP =
  'The delivery crashed again and again inside the service; it is tried every five minutes, and at once when the webhook is set again'

export function createWebhooks(options: WebhookOptions) {
  const { db, vault, logger, config } = options
  const { allowPrivate, timeoutMs, bodyDays } = config
  const resolve = allowPrivate ? resolveAnything : resolvePublic
  const reach = { allowPrivate, resolve }
  const secrets = new SigningSecrets(db, vault)
  const states = new WebhookStates(db, logger, options.fenced)
  const deliveries = new DeliveryLog(db, logger, config.logDays, config.logSample)
  const exchanges =
    bodyDays > 0 ? new ExchangeLog({ db, vault, logger, days: bodyDays }) : undefined
  const tally = new AttemptTally(options.counted)
  const pace = new Pace()
  const endpointParts: EndpointParts = {
    guard: reach,
    timeoutMs,
    secrets,
    connections: new Connections(),
    logger,
    keepsExchange: (apiKeyId, isGood) => exchanges?.mayKeep(apiKeyId, isGood) ?? false,
    call: options.call,
    record(place, attempt, exchange) {
      states.ended(place.key, attempt)
      deliveries.add(place, attempt)
      if (exchange) exchanges?.add(place.key, attempt, exchange)
      tally.add(place.key, attempt.ok)
    },
  }

  return {
    port: portOf(options, { endpointParts, reach, states }),
    secrets,
    /** For the bot API's methods about webhooks. */
    calls: {
      allowPrivate,
      pace: (apiKeyId: number) => pace.take(apiKeyId),
      address: (url: string) => addressOf(url, reach),
      async ends(apiKeyId: number) {
        await states.flush()
        return webhookEnds(db, apiKeyId)
      },
    },
    async flush(): Promise<void> {
      await Promise.all([states.flush(), deliveries.flush(), exchanges?.flush(), tally.flush()])
    },
  }
}

interface PortParts {
  readonly endpointParts: EndpointParts
  readonly reach: Reach
  readonly states: WebhookStates
}

function portOf(options: WebhookOptions, { endpointParts, reach, states }: PortParts): Webhooks {
  const { db, vault, logger } = options
  const progress = new ProgressStore(db, options.fenced)
  const notices = new Notices({ db, logger, node: options.node })
  const flush = async () => {
    await Promise.all([states.flush(), options.flushCursors()])
  }
  const store = new WebhookStore({ db, vault, reach, flush })
  return {
    open: (key, target) => new Endpoint(key, target, endpointParts),
    async read(key, { filter, after, limit }) {
      const { credentialId, apiKeyId } = key
      const reader = { credentialId, apiKeyId, filter, after, limit }
      return (await options.updates.rows(reader)).once(toDeliver)
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
    dropped({ apiKeyId, epoch }, updates) {
      db.query(
        `update api_key k set dropped_updates = k.dropped_updates + $3, dropped_at = now()
           from credential c where k.id = $1 and c.id = k.credential_id and c.epoch = $2`,
        [apiKeyId, epoch, updates],
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
}

const toDeliver = ({ rows, head }: ReadRows) => ({
  updates: rows.map((row) => ({
    updateId: row.updateId,
    lane: laneOf(row),
    body: updateJson(row),
    traceId: row.traceId ?? undefined,
  })),
  head,
})

const PACE_MS = 1_000

/** Lets a key set its webhook once a second, as the reference does. */
class Pace {
  readonly #lately = new LRUCache<number, true>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
    ttl: PACE_MS,
  })

  /** Rejects with `rate_limited`. */
  take(apiKeyId: number): void {
    if (this.#lately.has(apiKeyId)) throw failed('rate_limited', '', { retryAfterSeconds: 1 })
    this.#lately.set(apiKeyId, true)
  }
}

type Value = ReturnType<typeof JSON.parse>

/** Each group has lanes of its own, so a callback may overtake a message of the same person. */
const user = (group: number) => (value: Value) => `${group}:${value.from?.id ?? value.user?.id}`
const chat = (group: number) => (value: Value) => `${group}:${value.chat?.id}`

const lanes: Partial<Record<UpdateKind, (value: Value) => string>> = {
  inline_query: user(1),
  chosen_inline_result: user(2),
  callback_query: user(3),
  shipping_query: user(4),
  pre_checkout_query: user(4),
  my_chat_member: chat(5),
  chat_member: user(6),
  chat_join_request: user(6),
  chat_boost: chat(7),
  removed_chat_boost: chat(7),
  message_reaction: chat(8),
  message_reaction_count: chat(9),
  business_connection: user(10),
  business_message: chat(11),
  edited_business_message: chat(11),
  deleted_business_messages: chat(11),
  guest_message: chat(12),
  purchased_paid_media: user(12),
  managed_bot: user(13),
  poll: (value) => `poll:${value.id}`,
  poll_answer: (value) => `poll:${value.poll_id}`,
}

/** A deletion must not overtake its message, nor an edit: they share the lane of the chat. */
const ofChat: ReadonlySet<UpdateKind | undefined> = new Set([
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'deleted_messages',
  'message_delivered',
  'message_read',
] as const)

/** The lane of an update, by the queue ids of the reference. */
function laneOf(row: Row): string {
  const { updateId, kind: number, chatId } = row
  const kind = UPDATE_KINDS[number]
  if (ofChat.has(kind) && chatId !== null) return `${chatId}`
  const lane = kind && lanes[kind]
  return lane && kind ? lane(JSON.parse(updateJson(row))[kind]) : `update:${updateId}`
}

interface NoticesOptions {
  readonly db: Database
  readonly logger: Logger
  readonly node: string
}

interface Notified {
  readonly notice: Notice
  readonly since: number
}

const endings: Partial<Record<Notice, { to: string; event: string }>> = {
  suspended: { to: 'suspended', event: 'webhook.suspended' },
  removed: { to: 'removed', event: 'webhook.removed' },
  crash_loop: { to: 'failed', event: 'webhook.failed' },
}
const reasons: Partial<Record<Notice, string>> = { suspended: 'failing_7_days', removed: 'gone' }

/** Far more than fail at once; notices beyond it are still found in the timeline. */
const REMEMBERED = 10_000

/** Notices of endpoints that get nothing: a line in the timeline of the key's account, and one for the operators. */
export class Notices {
  readonly #options: NoticesOptions
  /** The newest notice of each key, so that not every failure costs a query. */
  readonly #notified = new Map<number, Notified>()

  constructor(options: NoticesOptions) {
    this.#options = options
  }

  notify(key: WebhookKey, notice: Notice, since: number): void {
    const { apiKeyId } = key
    const last = this.#notified.get(apiKeyId)
    if (last?.notice === notice && last.since === since) return
    if (this.#notified.size >= REMEMBERED) this.#notified.clear()
    this.#notified.set(apiKeyId, { notice, since })
    this.#write(key, notice, since).catch((err) => {
      this.#notified.delete(apiKeyId)
      this.#options.logger.warn({ err, apiKeyId, notice }, 'a notice could not be written')
    })
  }

  /** After a restart the timeline has the notices that were written before. */
  async #write(key: WebhookKey, notice: Notice, since: number): Promise<void> {
    const { db, logger, node } = this.#options
    const { to, event } = endings[notice] ?? { to: 'failing', event: 'webhook.failing' }
    const now = Date.now()
    const written = await db.query(
      `insert into credential_transition
         (credential_id, at, from_state, to_state, event, reason, duration_ms, actor, node)
       select id, $2, $3, $4, $5, $6, $7, $8, $9 from credential c
        where id = $1 and not exists (
          select from credential_transition t
           where t.credential_id = c.id and t.actor = $8 and t.event = $5 and t.reason = $6
             and t.at >= $10)
       returning id`,
      [
        key.credentialId,
        new Date(now),
        'delivering',
        to,
        event,
        reasons[notice] ?? notice,
        Math.max(0, now - since),
        `api_key:${key.apiKeyId}`,
        node,
        new Date(since),
      ],
    )
    if (written.length === 0) return
    const { apiKeyId, userId, credentialId } = key
    logger.warn({ apiKeyId, userId, credentialId, notice }, 'a webhook gets nothing')
  }
}
