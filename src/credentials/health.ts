/** The health of every credential: the newest is written a second late, irregular events are counted for diagnoses. */

import type { Logger, Owned } from '../../actors/ports/ports.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { Database } from '../database/database.ts'
import { Latest } from '../database/write-behind.ts'
import { type Fenced, fencedRows, ownedRows } from './fence.ts'

/** Counts events that sessions report twice or out of order, for the diagnosis. */
interface Irregular {
  readonly repeated: number
  readonly disordered: number
}

interface Tally {
  repeated: number
  disordered: number
  lastAt: number
  lastKey: string
}

/** Counted since this process began. */
export class Irregularities {
  readonly #tallies = new Map<number, Tally>()

  add(credentialId: number, happenings: readonly Happening[]): void {
    let tally = this.#tallies.get(credentialId)
    if (!tally) {
      tally = { repeated: 0, disordered: 0, lastAt: 0, lastKey: '' }
      this.#tallies.set(credentialId, tally)
    }
    for (const { sourceKey, at, recovered } of happenings) {
      if (sourceKey === tally.lastKey) tally.repeated += 1
      // Events that are fetched after a gap are late by nature.
      else if (at < tally.lastAt && !recovered) tally.disordered += 1
      tally.lastKey = sourceKey
      tally.lastAt = at
    }
  }

  of(credentialId: number): Irregular {
    const { repeated = 0, disordered = 0 } = this.#tallies.get(credentialId) ?? {}
    return { repeated, disordered }
  }

  forget(credentialId: number): void {
    this.#tallies.delete(credentialId)
  }
}

interface Health {
  readonly healthy: boolean
  readonly at: number
  readonly latencyMs?: number
}

type Note = Health & { readonly epoch: number; readonly eventAt?: number | undefined }

export class HealthBuffer {
  readonly #notes: Latest<number, Note>

  /** `fenced` is called with credentials that another node has claimed. */
  constructor(db: Database, logger: Logger, fenced: Fenced = () => undefined, everyMs = 1_000) {
    this.#notes = new Latest<number, Note>({
      everyMs,
      write: async (notes) => {
        const lost = await writeHealth(db, notes)
        if (lost.length > 0) fenced(lost)
      },
      onFailure: (err, kept) => logger.warn({ err, kept }, 'health could not be written'),
    })
  }

  /** No latency means that an event, not a probe, has shown that the account works. */
  add({ credentialId, epoch }: Owned, health: Health): void {
    const noted = this.#notes.get(credentialId)
    const known = noted?.epoch === epoch ? noted : undefined
    const isEvent = health.healthy && health.latencyMs === undefined
    const eventAt = isEvent ? health.at : known?.eventAt
    const newest = isEvent && known ? { ...known, healthy: true, at: health.at } : health
    this.#notes.set(credentialId, { ...newest, epoch, eventAt })
  }

  flush(): Promise<void> {
    return this.#notes.flush()
  }
}

async function writeHealth(
  db: Database,
  notes: readonly (readonly [credentialId: number, note: Note])[],
): Promise<Owned[]> {
  return db.query<Owned>(
    `with ${ownedRows('$1', '$6', 'no key update')}, noted as (
     update credential c
        set healthy = h.healthy, checked_at = h.at,
            latency_ms = coalesce(h.latency_ms, c.latency_ms),
            last_event_at = coalesce(h.event_at, c.last_event_at)
       from unnest($1::bigint[], $2::bool[], $3::timestamptz[], $4::int[], $5::timestamptz[])
            as h (credential_id, healthy, at, latency_ms, event_at)
      where c.id = h.credential_id and exists (select from owned where owned.id = c.id))
     ${fencedRows('$1', '$6')}`,
    [
      notes.map(([id]) => id),
      notes.map(([, { healthy }]) => healthy),
      notes.map(([, { at }]) => new Date(at)),
      notes.map(([, { latencyMs }]) => (latencyMs === undefined ? null : Math.round(latencyMs))),
      notes.map(([, { eventAt }]) => (eventAt === undefined ? null : new Date(eventAt))),
      notes.map(([, { epoch }]) => epoch),
    ],
  )
}
