/** Group commit: batches that arrive while a commit is in flight go into the next one; an idle writer commits at once. */
import { RequestFailed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import { wasBlocked } from '../database/failures.ts'
import { type Batch, commit, withoutStored } from './commit.ts'
import type { Draft } from './row.ts'

/** Limit of one commit, so that a burst of one credential does not delay the others for long. */
const ROWS = 4_000
const MOST_LOCKED = 10_000

export type Committed =
  | { readonly fenced: false; readonly firstId: number; readonly drafts: readonly Draft[] }
  | { readonly fenced: true }

interface Waiting {
  readonly batch: Batch
  resolve(committed: Committed): void
  reject(cause: unknown): void
}

interface Queue {
  waiting: Waiting[]
  isRunning: boolean
}

export interface CommitObserver {
  committed(updates: number, seconds: number): void
  /** A commit failed for a reason that is not in its batches. */
  notCommitted?(cause: unknown): void
}

export class GroupCommit {
  readonly #db: Database
  readonly #observer: CommitObserver
  readonly #common: Queue = { waiting: [], isRunning: false }
  /** Of the locked ones: each commit may wait long for their rows, and the other accounts must not wait with it. */
  readonly #apart: Queue = { waiting: [], isRunning: false }
  /** Credentials whose rows somebody kept locked at their last commit. */
  readonly #locked = new Set<number>()

  constructor(db: Database, observer: CommitObserver) {
    this.#db = db
    this.#observer = observer
  }

  /** Resolves after the commit. The caller hands in one batch of a credential at a time. */
  submit(batch: Batch): Promise<Committed> {
    const queue = this.#locked.has(batch.credentialId) ? this.#apart : this.#common
    return new Promise((resolve, reject) => {
      queue.waiting.push({ batch, resolve, reject })
      if (!queue.isRunning) void this.#run(queue)
    })
  }

  async #run(queue: Queue) {
    queue.isRunning = true
    // One turn of the event loop gathers batches that arrive at the same moment.
    await new Promise(setImmediate)
    while (queue.waiting.length > 0) await this.#commit(take(queue.waiting))
    queue.isRunning = false
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
      for (const waiting of group) this.#done(waiting, firstIds, waiting.batch.drafts)
    } catch (cause) {
      const free = wasBlocked(cause) ? await this.#free(group) : []
      if (wasBlocked(cause)) this.#remember(group.filter((waiting) => !free.includes(waiting)))
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
  async #retry(waiting: Waiting) {
    const { batch } = waiting
    try {
      const drafts = await withoutStored(this.#db, batch)
      const firstIds = await commit(this.#db, [{ ...batch, drafts }])
      this.#done(waiting, firstIds, drafts)
    } catch (cause) {
      if (wasBlocked(cause)) this.#remember([waiting])
      waiting.reject(cause)
    }
  }

  #done({ batch, resolve }: Waiting, firstIds: FirstIds, drafts: readonly Draft[]) {
    const firstId = firstIds.get(batch.credentialId)
    this.#locked.delete(batch.credentialId)
    resolve(firstId === undefined ? { fenced: true } : { fenced: false, firstId, drafts })
  }

  #remember(locked: readonly Waiting[]) {
    for (const { batch } of locked) this.#locked.add(batch.credentialId)
    // Some may never come again.
    for (const id of this.#locked) {
      if (this.#locked.size <= MOST_LOCKED) return
      this.#locked.delete(id)
    }
  }
}

type FirstIds = Awaited<ReturnType<typeof commit>>

function take(queue: Waiting[]): Waiting[] {
  let rows = 0
  const end = queue.findIndex(({ batch }) => {
    rows += batch.drafts.length
    return rows > ROWS
  })
  return queue.splice(0, end < 0 ? queue.length : Math.max(1, end))
}

const UNLOCKED = `select credential_id as id from credential_log
  where credential_id = any($1::bigint[]) for no key update skip locked`

const isAway = (cause: unknown) =>
  cause instanceof RequestFailed && cause.failure.code === 'unavailable'
