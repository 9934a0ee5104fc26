/** The newest health of every credential, written a second late: one row each, however often it is noted. */
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'

interface Health {
  readonly healthy: boolean
  readonly at: number
  readonly latencyMs?: number
}

export class HealthBuffer {
  readonly #db: Database
  readonly #log: Log
  readonly #everyMs: number
  #newest = new Map<number, { health: Health; eventAt?: number }>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(db: Database, log: Log, everyMs = 1_000) {
    this.#db = db
    this.#log = log
    this.#everyMs = everyMs
  }

  /** Without a latency it was an event that showed the account to be alive. */
  add(credentialId: number, health: Health): void {
    const known = this.#newest.get(credentialId)
    const eventAt = health.healthy && health.latencyMs === undefined ? health.at : known?.eventAt
    const probed = health.latencyMs !== undefined || !health.healthy
    const newest = probed || !known ? health : { ...known.health, healthy: true, at: health.at }
    this.#newest.set(credentialId, { health: newest, ...(eventAt !== undefined && { eventAt }) })
    this.#timer ??= setTimeout(() => void this.flush(), this.#everyMs)
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const notes = [...this.#newest]
    this.#newest = new Map()
    if (notes.length === 0) return
    try {
      await this.#db.query(
        `update credential c
            set healthy = h.healthy, checked_at = h.at,
                latency_ms = coalesce(h.latency_ms, c.latency_ms),
                last_event_at = coalesce(h.event_at, c.last_event_at)
           from unnest($1::bigint[], $2::bool[], $3::timestamptz[], $4::int[], $5::timestamptz[])
                as h (credential_id, healthy, at, latency_ms, event_at)
          where c.id = h.credential_id`,
        [
          notes.map(([id]) => id),
          notes.map(([, { health }]) => health.healthy),
          notes.map(([, { health }]) => new Date(health.at)),
          notes.map(([, { health }]) =>
            health.latencyMs === undefined ? null : Math.round(health.latencyMs),
          ),
          notes.map(([, { eventAt }]) => (eventAt === undefined ? null : new Date(eventAt))),
        ],
      )
    } catch (err) {
      // The next probe or event tells it anew.
      this.#log.warn({ err }, 'health could not be written')
    }
  }
}
