/** The health of every credential: a change of it is written a second late, and irregular events are counted for diagnoses. */

import type { Logger, Owned } from '../../actors/ports/ports.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { Database } from '../database/database.ts'
import { Latest } from '../database/write-behind.ts'
import { type Fenced, fencedRows, ownedRows } from './fence.ts'

/** How many events sessions have reported twice or out of order, for the diagnosis. */
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

/** The newest of an account, and how much of it is written or about to be. */
interface Known {
  readonly newest: Note
  readonly written: Note
}

/** Health that has not changed is written this seldom: a row each minute for every account would be most of all writes. */
const UNCHANGED_MS = 15 * 60_000
/** The time of the last event is for people who look at a list. */
const EVENTS_MS = 60_000

function isDue(newest: Note, written: Note | undefined): boolean {
  if (written?.epoch !== newest.epoch || written.healthy !== newest.healthy) return true
  if (written.latencyMs === undefined && newest.latencyMs !== undefined) return true
  const eventAt = newest.eventAt ?? Number.NEGATIVE_INFINITY
  if (eventAt - (written.eventAt ?? Number.NEGATIVE_INFINITY) >= EVENTS_MS) return true
  return newest.at - written.at >= UNCHANGED_MS
}

export class HealthBuffer {
  readonly #due: Latest<number, Note>
  readonly #known = new Map<number, Known>()

  /** `fenced` is called with credentials that another node has claimed. */
  constructor(db: Database, logger: Logger, fenced: Fenced = () => undefined, everyMs = 1_000) {
    this.#due = new Latest<number, Note>({
      everyMs,
      write: async (notes) => {
        const lost = await writeHealth(db, notes)
        if (lost.length > 0) fenced(lost)
      },
      rows: 'health of accounts',
      logger,
    })
  }

  /** No latency means that an event, not a probe, has shown that the account works. */
  add({ credentialId, epoch }: Owned, health: Health): void {
    const held = this.#known.get(credentialId)
    const known = held?.newest.epoch === epoch ? held : undefined
    const isEvent = health.healthy && health.latencyMs === undefined
    const eventAt = isEvent ? health.at : known?.newest.eventAt
    const latencyMs = health.latencyMs ?? known?.newest.latencyMs
    const { healthy, at } = health
    const newest = { healthy, at, epoch, eventAt, ...(latencyMs !== undefined && { latencyMs }) }
    if (isDue(newest, known?.written)) this.#write(credentialId, newest)
    else if (known) this.#known.set(credentialId, { newest, written: known.written })
  }

  /** Lets the newest of these be written with the next flush, or of all. */
  release(credentialIds: Iterable<number> = this.#known.keys()): void {
    for (const id of credentialIds) {
      const known = this.#known.get(id)
      if (known && known.newest !== known.written) this.#write(id, known.newest)
    }
  }

  /** Another node writes the health of these. */
  forget(credentialIds: Iterable<number>): void {
    for (const id of credentialIds) this.#known.delete(id)
  }

  /** Resolves once what is due is written, or kept for the next try. */
  flush(): Promise<void> {
    return this.#due.flush()
  }

  #write(credentialId: number, note: Note): void {
    this.#known.set(credentialId, { newest: note, written: note })
    this.#due.set(credentialId, note)
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
