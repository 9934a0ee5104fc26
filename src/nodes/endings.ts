/** When a node that was declared gone can have no session any more: before that, no account is opened that bears only one. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { isRefused, SERVER_MS } from './table.ts'

interface GoneRow {
  readonly incarnation: number
  readonly address: string | null
  /** Whether a node that is up listens at that address: then this one does not any more. */
  readonly isReused: boolean
  /** Null where a node of a version before has declared it. */
  readonly cause: 'crashed' | 'silent' | null
  readonly agoMs: number
  readonly serverMs: number
}

/** Two beats: a process whose connection to the database was cut learns within one that it was declared gone. */
const CRASHED_MS = 500
/** It trusts itself for 7 s after its last beat, which came before the others declared it gone. */
const CUT_OFF_MS = 10_000
/** It was silent for 10 s by then, and wrote nothing after 7 s. */
const SILENT_MS = 2_000

const goneNodes = (db: Pick<Database, 'query'>): Promise<GoneRow[]> =>
  db.query<GoneRow>(
    `select n.id as incarnation, n.address, n.ended_by as cause,
            exists (select from node o where o.address = n.address and o.ended_at is null) as "isReused",
            (extract(epoch from clock_timestamp() - n.ended_at) * 1000)::float8 as "agoMs",
            ${SERVER_MS} as "serverMs"
       from node n where n.state = 'gone' and n.ended_at > now() - make_interval(secs => $1)`,
    [CUT_OFF_MS / 1000],
  )

/** In how many milliseconds it can have no session any more. */
async function endsIn(
  { address, isReused, cause, agoMs, serverMs }: GoneRow,
  isSole: boolean,
): Promise<number> {
  if (cause === 'silent') return SILENT_MS - agoMs
  if (cause === null) return CUT_OFF_MS - agoMs
  // One without an address cannot be asked: then the free lock has to do. That of a living node is free, too, when the
  // server has just started; but then its last counted beat was before the start. Beside a process that is the only one
  // there is no living node.
  const isDoubtful = !isSole && address === null && agoMs < serverMs
  if (isDoubtful) return Math.max(CRASHED_MS - agoMs, CUT_OFF_MS - serverMs)
  const isOver = address === null || isReused || (await isRefused(address))
  return (isOver ? CRASHED_MS : CUT_OFF_MS) - agoMs
}

/** Accounts that are opened at once wait together. */
export class Endings {
  readonly #db: Pick<Database, 'query'>
  readonly #isSole: boolean
  #waiting: Promise<void> | undefined

  /** `isSole`: no other process reaches the database. */
  constructor(db: Pick<Database, 'query'>, isSole = false) {
    this.#db = db
    this.#isSole = isSole
  }

  /** Resolves once no node that was declared gone by now can have a session. */
  forCertain(): Promise<void> {
    // Another node may have been declared gone since the others began to wait.
    const before = this.#waiting?.catch(() => undefined)
    if (before) return before.then(() => this.#wait())
    return this.#wait()
  }

  #wait(): Promise<void> {
    this.#waiting ??= this.#look().finally(() => {
      this.#waiting = undefined
    })
    return this.#waiting
  }

  async #look(): Promise<void> {
    for (;;) {
      const rows = await goneNodes(this.#db)
      const waits = rows.map((row) => endsIn(row, this.#isSole))
      const waitMs = Math.max(0, ...(await Promise.all(waits)))
      if (waitMs === 0) return
      await pause(waitMs)
    }
  }
}
