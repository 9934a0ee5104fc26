/** Observes the other nodes and judges which have ended. It counts its own successful beats, never seconds. */

/** A row of the table of nodes that has not ended. */
export interface NodeRow {
  readonly incarnation: number
  readonly name: string
  /** The address at which it listens for other nodes; null if it has none. */
  readonly address: string | null
  readonly version: string
  /** The newest migration that its version knows. */
  readonly schema: string
  /** The newest version of the protocol between nodes that it speaks. */
  readonly protocol: number
  readonly weight: number
  readonly state: 'joining' | 'up' | 'draining'
  readonly beats: number
  /** Whether an operator has ordered it to give its accounts away. */
  readonly isToDrain: boolean
  /** Whether its connection to the database stands. */
  readonly isLocked: boolean
  readonly startedAt: Date
}

/** A node that has ended: its process has crashed, or it is frozen or cut off. */
export interface Verdict {
  readonly row: NodeRow
  readonly cause: 'crashed' | 'silent'
}

/** The number of beats after which a peer with a free lock counts as crashed. */
const CRASHED_AFTER = 3
/** The number of beats after which a peer with a held lock counts as silent: ten seconds. */
const SILENT_AFTER = 40
/**
 * When the database restarts, all locks are free for a moment. So for this many own beats after an interruption, or after
 * the first one where the locks are new, an observer trusts only a lock that it has seen held before.
 */
const LOCKS_NOT_TRUSTED_FOR = 20
/** How long the last beat of a node that has ended is remembered. */
const REMEMBERED_MS = 3_600_000

interface Watched {
  readonly row: NodeRow
  /** By the observer's own count of beats. */
  readonly changedAtBeat: number
  /** In milliseconds of the caller's clock; shown, never judged by. */
  readonly changedAt: number
  /** Its lock was seen held since the observer began, or was interrupted. */
  readonly hasBeenLocked: boolean
}

export class Observer {
  #beats = 0
  #trustsLocksFrom: number
  #watched: ReadonlyMap<number, Watched> = new Map()
  /** When a node of each name was last seen to beat. */
  readonly #lastBeats = new Map<string, number>()

  /** `areLocksNew`: the server has restarted so lately that the living may not have taken their locks again. */
  constructor(areLocksNew: boolean) {
    this.#trustsLocksFrom = areLocksNew ? LOCKS_NOT_TRUSTED_FOR : 0
  }

  /** Takes the rows that an own successful beat returned. Returns the peers to declare gone. */
  saw(rows: readonly NodeRow[], self: number, now: number): Verdict[] {
    this.#beats++
    this.#watched = new Map(rows.map((row) => [row.incarnation, this.#watch(row, now)]))
    this.#remember(now)
    return rows.filter(({ incarnation }) => incarnation !== self).flatMap((row) => this.#judge(row))
  }

  /** An own beat failed or came late: the others may have beaten unseen. */
  interrupted(): void {
    this.#trustsLocksFrom = this.#beats + LOCKS_NOT_TRUSTED_FOR
    this.#watched = new Map(
      [...this.#watched].map(([id, watched]) => [
        id,
        { ...watched, changedAtBeat: this.#beats, hasBeenLocked: false },
      ]),
    )
  }

  /** All rows of the last beat, with the milliseconds since each was seen to beat. */
  view(now: number): (NodeRow & { readonly beatAgeMs: number })[] {
    return [...this.#watched.values()].map(({ row, changedAt }) => ({
      ...row,
      beatAgeMs: now - changedAt,
    }))
  }

  /** Since a node of that name was seen to beat, also if it has ended; undefined if there was none within the last hour. */
  silentMs(name: string, now: number): number | undefined {
    const at = this.#lastBeats.get(name)
    return at === undefined ? undefined : now - at
  }

  #remember(now: number): void {
    for (const [name, at] of this.#lastBeats) {
      if (now - at > REMEMBERED_MS) this.#lastBeats.delete(name)
    }
    for (const { row, changedAt } of this.#watched.values()) {
      this.#lastBeats.set(row.name, Math.max(changedAt, this.#lastBeats.get(row.name) ?? 0))
    }
  }

  #watch(row: NodeRow, now: number): Watched {
    const known = this.#watched.get(row.incarnation)
    const hasBeenLocked = row.isLocked || known?.hasBeenLocked === true
    if (known?.row.beats === row.beats) return { ...known, row, hasBeenLocked }
    return { row, changedAtBeat: this.#beats, changedAt: now, hasBeenLocked }
  }

  #judge(row: NodeRow): Verdict[] {
    const watched = this.#watched.get(row.incarnation)
    const silentFor = this.#beats - (watched?.changedAtBeat ?? this.#beats)
    if (silentFor >= SILENT_AFTER) return [{ row, cause: 'silent' }]
    // One that joins takes its lock after it has added its row, and on a busy machine only after a while.
    const hadLock = row.state !== 'joining'
    const isTrusted = watched?.hasBeenLocked === true || this.#beats >= this.#trustsLocksFrom
    const isFree = hadLock && !row.isLocked && isTrusted
    return isFree && silentFor >= CRASHED_AFTER ? [{ row, cause: 'crashed' }] : []
  }
}
