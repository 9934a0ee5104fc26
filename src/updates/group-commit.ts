/** Group commit: batches that arrive while a commit is in flight go into the next one; an idle writer commits at once. */
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import { wasBlocked } from '../database/failures.ts'
import { type Batch, commit, withoutStored } from './commit.ts'
import type { Draft } from './row.ts'

/** Limit of one commit, so that a burst of one credential does not delay the others for long. */
const ROWS = 4_000

export type Committed =
  | { readonly fenced: false; readonly firstId: number; readonly drafts: readonly Draft[] }
  | { readonly fenced: true }

interface Waiting {
  readonly batch: Batch
  resolve(committed: Committed): void
  reject(cause: unknown): void
}

export interface CommitObserver {
  committed(updates: number, seconds: number): void
  /** A commit failed for a reason that is not in its batches. */
  notCommitted?(cause: unknown): void
}

export class GroupCommit {
  readonly #db: Database
  readonly #observer: CommitObserver
  #queue: Waiting[] = []
  #running = false

  constructor(db: Database, observer: CommitObserver) {
    this.#db = db
    this.#observer = observer
  }

  /** Resolves after the commit. The caller hands in one batch of a credential at a time. */
  submit(batch: Batch): Promise<Committed> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ batch, resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  async #run() {
    this.#running = true
    // One turn of the event loop gathers batches that arrive at the same moment.
    await new Promise(setImmediate)
    while (this.#queue.length > 0) await this.#commit(this.#take())
    this.#running = false
  }

  #take(): Waiting[] {
    let rows = 0
    const end = this.#queue.findIndex(({ batch }) => {
      rows += batch.drafts.length
      return rows > ROWS
    })
    return this.#queue.splice(0, end < 0 ? this.#queue.length : Math.max(1, end))
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const began = performance.now()
    try {
      const firstIds = await commit(
        this.#db,
        group.map(({ batch }) => batch),
      )
      const updates = group.reduce((sum, { batch }) => sum + batch.drafts.length, 0)
      this.#observer.committed(updates, (performance.now() - began) / 1000)
      for (const { batch, resolve } of group) {
        const firstId = firstIds.get(batch.credentialId)
        if (firstId === undefined) resolve({ fenced: true })
        else resolve({ fenced: false, firstId, drafts: batch.drafts })
      }
    } catch (cause) {
      const free = wasBlocked(cause) ? await this.#free(group) : []
      if (free.length > 0 && free.length < group.length) {
        for (const waiting of group) if (!free.includes(waiting)) waiting.reject(cause)
        return this.#commit(free)
      }
      // A retry cannot help while the database is unavailable. Otherwise one bad batch must not fail the others.
      if (isAway(cause)) {
        this.#observer.notCommitted?.(cause)
        for (const { reject } of group) reject(cause)
      } else for (const waiting of group) await this.#retry(waiting)
    }
  }

  /** Those whose rows nobody has locked: they must not fail with the others, again and again. */
  async #free(group: readonly Waiting[]): Promise<Waiting[]> {
    const ids = group.map(({ batch }) => batch.credentialId)
    // Whoever waits is told of the first failure.
    const rows = await this.#db.query<{ id: number }>(UNLOCKED, [ids]).catch(() => [])
    const free = new Set(rows.map(({ id }) => id))
    return group.filter(({ batch }) => free.has(batch.credentialId))
  }

  /** A source key is stored already, or a value cannot be stored: commits one batch alone, without known events. */
  async #retry({ batch, resolve, reject }: Waiting) {
    try {
      const drafts = await withoutStored(this.#db, batch)
      const firstIds = await commit(this.#db, [{ ...batch, drafts }])
      const firstId = firstIds.get(batch.credentialId)
      resolve(firstId === undefined ? { fenced: true } : { fenced: false, firstId, drafts })
    } catch (cause) {
      reject(cause)
    }
  }
}

const UNLOCKED = `select credential_id as id from credential_log
  where credential_id = any($1::bigint[]) for no key update skip locked`

const isAway = (cause: unknown) =>
  cause instanceof RequestFailed && cause.failure.code === 'unavailable'
