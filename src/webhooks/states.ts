/** How endpoints stand, in Postgres: written a moment late, only the newest of each. */
import type { AttemptRecord, WebhookState } from '../../actors/webhook-ports.ts'
import type { Database } from '../database/database.ts'
import { Latest } from '../database/latest.ts'
import type { Log } from '../database/log.ts'

interface Ends {
  readonly success: number | undefined
  readonly failure: { readonly at: number; readonly error: string } | undefined
}

const LAG_MS = 500

export class WebhookStates {
  readonly #states: Latest<number, WebhookState>
  readonly #ends: Latest<number, Ends>

  constructor(db: Database, log: Log) {
    const onFailure = (err: unknown, keys: number) =>
      log.warn({ err, keys }, 'states of webhooks could not be written')
    this.#states = new Latest<number, WebhookState>({
      everyMs: LAG_MS,
      write: (states) => writeStates(db, states),
      onFailure,
    })
    this.#ends = new Latest<number, Ends>({
      everyMs: LAG_MS,
      write: (ends) => writeEnds(db, ends),
      onFailure,
    })
  }

  save(apiKeyId: number, state: WebhookState): void {
    this.#states.set(apiKeyId, state)
  }

  ended(apiKeyId: number, { at, durationMs, ok, error }: AttemptRecord): void {
    const end = at + durationMs
    const failure = ok ? this.#ends.get(apiKeyId)?.failure : { at: end, error: error ?? '' }
    const success = ok ? end : this.#ends.get(apiKeyId)?.success
    this.#ends.set(apiKeyId, { success, failure })
  }

  async flush(): Promise<void> {
    await Promise.all([this.#states.flush(), this.#ends.flush()])
  }
}

async function writeStates(
  db: Database,
  states: readonly (readonly [apiKeyId: number, state: WebhookState])[],
): Promise<void> {
  await db.query(
    `update webhook w
        set failures = s.failures, failing_since = to_timestamp(s.since / 1000),
            gone_since = to_timestamp(s.gone / 1000), due_at = to_timestamp(s.due / 1000),
            suspended_at = case when s.suspended then now() end
       from unnest($1::bigint[], $2::int[], $3::float8[], $4::float8[], $5::float8[], $6::boolean[])
              as s (id, failures, since, gone, due, suspended)
      where w.api_key_id = s.id and w.sealed is not null`,
    [
      states.map(([id]) => id),
      states.map(([, { trouble }]) => trouble?.failures ?? 0),
      states.map(([, { trouble }]) => trouble?.since ?? null),
      states.map(([, { trouble }]) => trouble?.goneSince ?? null),
      states.map(([, { trouble }]) => trouble?.dueAt ?? null),
      states.map(([, { suspended }]) => suspended),
    ],
  )
}

async function writeEnds(
  db: Database,
  ends: readonly (readonly [apiKeyId: number, ends: Ends])[],
): Promise<void> {
  await db.query(
    `update webhook w
        set last_success_at = coalesce(to_timestamp(e.success / 1000), w.last_success_at),
            last_error_at = coalesce(to_timestamp(e.failure / 1000), w.last_error_at),
            last_error_message = coalesce(e.error, w.last_error_message)
       from unnest($1::bigint[], $2::float8[], $3::float8[], $4::text[])
              as e (id, success, failure, error)
      where w.api_key_id = e.id and w.sealed is not null`,
    [
      ends.map(([id]) => id),
      ends.map(([, { success }]) => success ?? null),
      ends.map(([, { failure }]) => failure?.at ?? null),
      ends.map(([, { failure }]) => failure?.error ?? null),
    ],
  )
}
