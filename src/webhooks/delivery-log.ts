/** Every attempt as its owner sees it later, written a moment late and kept for a while. */
import type { AttemptRecord, WebhookKey } from '../../actors/webhook-ports.ts'
import { WriteBuffer } from '../database/buffer.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'

interface Entry extends AttemptRecord, WebhookKey {
  readonly url: string
}

const LAG_MS = 500
/** Kept while the database is away; beyond it the oldest are lost. */
const CAPACITY = 50_000
const AT_ONCE = 2_000
const UPKEEP_MS = 3_600_000

export class DeliveryLog {
  readonly #db: Database
  readonly #days: number
  readonly #buffer: WriteBuffer<Entry>
  #upkeepDue = 0

  constructor(db: Database, log: Log, days: number) {
    this.#db = db
    this.#days = days
    this.#buffer = new WriteBuffer<Entry>({
      everyMs: LAG_MS,
      capacity: CAPACITY,
      write: (entries) => this.#write(entries),
      onFailure: (err, kept) => {
        this.#upkeepDue = 0
        log.warn({ err, kept }, 'webhook attempts could not be written')
      },
    })
  }

  add(key: WebhookKey, url: string, attempt: AttemptRecord): void {
    this.#buffer.add({ ...attempt, ...key, url })
  }

  flush(): Promise<void> {
    return this.#buffer.flush()
  }

  async #write(entries: readonly Entry[]): Promise<void> {
    if (Date.now() >= this.#upkeepDue) {
      await this.#db.query('select webhook_delivery_upkeep(make_interval(days => $1))', [
        this.#days,
      ])
      this.#upkeepDue = Date.now() + UPKEEP_MS
    }
    for (let at = 0; at < entries.length; at += AT_ONCE) {
      await insert(this.#db, entries.slice(at, at + AT_ONCE))
    }
  }
}

const statement = {
  name: 'webhook-deliveries',
  text: `insert into webhook_delivery (at, user_id, api_key_id, update_id, attempt, url, status,
           error, duration_ms, next_attempt_at, trace_id)
         select to_timestamp(at / 1000), user_id, api_key_id, update_id, attempt, url, status,
           error, duration_ms, to_timestamp(next / 1000), trace_id
         from unnest($1::float8[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::text[],
           $7::smallint[], $8::text[], $9::real[], $10::float8[], $11::text[])
           as d (at, user_id, api_key_id, update_id, attempt, url, status, error, duration_ms, next,
             trace_id)`,
}

async function insert(db: Database, entries: readonly Entry[]): Promise<void> {
  await db.query(statement, [
    entries.map(({ at }) => at),
    entries.map(({ userId }) => userId),
    entries.map(({ apiKeyId }) => apiKeyId),
    entries.map(({ updateId }) => updateId),
    entries.map(({ attempt }) => attempt),
    entries.map(({ url }) => url),
    entries.map(({ status }) => status ?? null),
    entries.map(({ error }) => error ?? null),
    entries.map(({ durationMs }) => durationMs),
    entries.map(({ nextAttemptAt }) => nextAttemptAt ?? null),
    entries.map(({ traceId }) => traceId ?? null),
  ])
}
