/** Counts the attempts of each key, and stores the states of endpoints and the ends of attempts: buffered, the newest of each key. */
import type { Logger, Owned, OwnedKey } from '../../actors/ports/ports.ts'
import type { AttemptRecord, WebhookKey } from '../../actors/ports/webhooks.ts'
import type { WebhookState } from '../../machines/webhook/terms.ts'
import { type Fenced, fencedRows, ownedRows } from '../credentials/fence.ts'
import type { Database } from '../database/database.ts'
import { arrayLiteral, Flusher, Latest, textArray } from '../database/write-behind.ts'
import type { RequestJournal } from '../observability/request-journal.ts'

type Ended = Pick<AttemptRecord, 'at' | 'durationMs' | 'ok' | 'error'>

interface Ends {
  readonly success: number | undefined
  readonly failure: { readonly at: number; readonly error: string } | undefined
}

type Noted<Value> = Value & { readonly key: OwnedKey }

const LAG_MS = 500

export class WebhookStates {
  readonly #states: Latest<number, Noted<WebhookState>>
  readonly #ends: Latest<number, Noted<Ends>>

  /** `fenced` gets the credentials that another node has claimed. */
  constructor(db: Database, logger: Logger, fenced: Fenced = () => undefined) {
    const rows = 'states of webhooks'
    this.#states = new Latest<number, Noted<WebhookState>>({
      everyMs: LAG_MS,
      write: async (states) => {
        const lost = await writeStates(db, states)
        if (lost.length > 0) fenced(lost)
      },
      rows,
      logger,
    })
    this.#ends = new Latest<number, Noted<Ends>>({
      everyMs: LAG_MS,
      write: (ends) => writeEnds(db, ends),
      rows,
      logger,
    })
  }

  save(key: OwnedKey, state: WebhookState): void {
    this.#states.set(key.apiKeyId, { ...state, key })
  }

  /** `error` is shown until the next one; a crash of the delivery is an end without an attempt. */
  ended(key: OwnedKey, { at, durationMs, ok, error }: Ended): void {
    const end = at + durationMs
    const { apiKeyId } = key
    const failure = ok ? this.#ends.get(apiKeyId)?.failure : { at: end, error: error ?? '' }
    const success = ok ? end : this.#ends.get(apiKeyId)?.success
    this.#ends.set(apiKeyId, { success, failure, key })
  }

  async flush(): Promise<void> {
    await Promise.all([this.#states.flush(), this.#ends.flush()])
  }
}

async function writeStates(
  db: Database,
  states: readonly (readonly [apiKeyId: number, state: Noted<WebhookState>])[],
): Promise<Owned[]> {
  return db.query<Owned>(
    `with ${ownedRows('$7', '$8', 'share')}, written as (
     update webhook w
        set failures = s.failures, failing_since = to_timestamp(s.since / 1000),
            gone_since = to_timestamp(s.gone / 1000), due_at = to_timestamp(s.due / 1000),
            suspended_at = case when s.suspended then now() end
       from unnest($1::bigint[], $2::int[], $3::float8[], $4::float8[], $5::float8[], $6::boolean[],
                   $7::bigint[])
              as s (id, failures, since, gone, due, suspended, credential_id)
      where w.api_key_id = s.id and w.sealed is not null
        and s.credential_id in (select id from owned))
     ${fencedRows('$7', '$8')}`,
    [
      arrayLiteral(states.map(([id]) => id)),
      arrayLiteral(states.map(([, { trouble }]) => trouble?.failures ?? 0)),
      arrayLiteral(states.map(([, { trouble }]) => trouble?.since ?? null)),
      arrayLiteral(states.map(([, { trouble }]) => trouble?.goneSince ?? null)),
      arrayLiteral(states.map(([, { trouble }]) => trouble?.dueAt ?? null)),
      arrayLiteral(states.map(([, { suspended }]) => suspended)),
      arrayLiteral(states.map(([, { key }]) => key.credentialId)),
      arrayLiteral(states.map(([, { key }]) => key.epoch)),
    ],
  )
}

async function writeEnds(
  db: Database,
  ends: readonly (readonly [apiKeyId: number, ends: Noted<Ends>])[],
): Promise<void> {
  await db.query(
    `update webhook w
        set last_success_at = coalesce(to_timestamp(e.success / 1000), w.last_success_at),
            last_error_at = coalesce(to_timestamp(e.failure / 1000), w.last_error_at),
            last_error_message = coalesce(e.error, w.last_error_message)
       from unnest($1::bigint[], $2::float8[], $3::float8[], $4::text[], $5::bigint[], $6::bigint[])
              as e (id, success, failure, error, credential_id, epoch)
       join credential c on c.id = e.credential_id and c.epoch = e.epoch
      where w.api_key_id = e.id and w.sealed is not null`,
    [
      arrayLiteral(ends.map(([id]) => id)),
      arrayLiteral(ends.map(([, { success }]) => success ?? null)),
      arrayLiteral(ends.map(([, { failure }]) => failure?.at ?? null)),
      textArray(ends.map(([, { failure }]) => failure?.error ?? null)),
      arrayLiteral(ends.map(([, { key }]) => key.credentialId)),
      arrayLiteral(ends.map(([, { key }]) => key.epoch)),
    ],
  )
}

export interface AttemptCounts {
  readonly attempts: number
  readonly failures: number
}

const TALLY_LAG_MS = 500

export class AttemptTally {
  readonly #flusher: Flusher
  #counts = new Map<number, { key: WebhookKey; attempts: number; failures: number }>()

  constructor(counted: (key: WebhookKey, counts: AttemptCounts) => void) {
    this.#flusher = new Flusher(TALLY_LAG_MS, async () => {
      const counts = this.#counts
      this.#counts = new Map()
      for (const { key, ...sums } of counts.values()) counted(key, sums)
    })
  }

  add(key: WebhookKey, ok: boolean): void {
    const sums = this.#counts.get(key.apiKeyId)
    if (sums) {
      sums.attempts++
      if (!ok) sums.failures++
    } else this.#counts.set(key.apiKeyId, { key, attempts: 1, failures: ok ? 0 : 1 })
    this.#flusher.schedule()
  }

  flush(): Promise<void> {
    return this.#flusher.flush()
  }
}

/** Counts attempts at delivering to a webhook in the usage of the key. */
export const countAttempts =
  (journal: Pick<RequestJournal, 'count'>) =>
  (key: WebhookKey, { attempts, failures }: AttemptCounts): void =>
    journal.count(key, {
      webhookAttempts: attempts,
      webhookFailures: failures,
      updatesDelivered: attempts - failures,
    })
