/** Statements for many rows: buffered rows and newest values, statements that callers wait for, and the arrays that they take. */
import { randomUUID } from 'node:crypto'
import { setImmediate as endOfTurn, setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../actors/ports/ports.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { FairSemaphore } from '../fair-semaphore.ts'
import type { Queryable } from './database.ts'
import { isRefused, mayBeOneRow } from './failures.ts'

const RETRY_MS = 1_000

/** When buffered rows are written: a moment after the first of them, one write at a time, again when one failed. */
export class Flusher {
  readonly #everyMs: number
  readonly #write: () => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #notBegun: Promise<void> | undefined
  readonly #begin = () => {
    this.#notBegun = undefined
    return this.#write()
  }

  /** `write` takes all buffered rows. If it rejects, the buffer keeps them and calls it again soon. */
  constructor(everyMs: number, write: () => Promise<void>) {
    this.#everyMs = everyMs
    this.#write = write
  }

  schedule(inMs = this.#everyMs): void {
    this.#timer ??= setTimeout(() => void this.flush(), inMs).unref()
  }

  /** Resolves once everything buffered before the call is written, or kept for the next try. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    // It takes all that is buffered when it begins: of many callers none waits for a try of each before it.
    this.#notBegun ??= this.#writing.then(this.#begin).catch(() => this.schedule(RETRY_MS))
    this.#writing = this.#notBegun
    return this.#notBegun
  }
}

interface RowWrites {
  readonly count: number
  /** Rows of one statement. */
  readonly most: number
  /** Writes the rows from one place up to before another. */
  write(from: number, to: number): Promise<void>
  /** The database will never take the row at this place. */
  refused(place: number, cause: unknown): void
}

export interface WrittenRows {
  /** How many of the first rows need no further write. */
  readonly settled: number
  /** What has stopped it. */
  readonly cause?: unknown
}

/**
 * Writes rows in their order, many with one statement. They belong to many users: where the database refuses a row, the
 * others must not fail with it again and again, so the part with it is halved until the row is alone.
 */
export async function writeInOrder({
  count,
  most,
  write,
  refused,
}: RowWrites): Promise<WrittenRows> {
  let width = most
  let settled = 0
  while (settled < count) {
    const to = Math.min(count, settled + width)
    try {
      await write(settled, to)
      width = Math.min(most, 2 * width)
      settled = to
    } catch (cause) {
      if (!isRefused(cause)) return { settled, cause }
      if (to - settled > 1) width = Math.ceil((to - settled) / 2)
      else refused(settled++, cause)
    }
  }
  return { settled }
}

/** Numbers the rows of one buffer, in the order in which they are written. */
export interface Mark {
  readonly writer: string
  /** Rows before the first of a write. */
  readonly before: number
}

/**
 * SQL: the first part of a statement that stores rows of a writer. It is stored with them and tells up to which number
 * rows were stored before: a write whose commit nobody has confirmed is repeated, and must not store them twice. If it
 * is still under way, this waits for it.
 */
export const marked = (writer: string, upTo: string): string => `mark as (
    insert into write_mark as m (writer, stored) values (${writer}::uuid, ${upTo}::bigint)
    on conflict (writer) do update
      set before = m.stored, stored = greatest(m.stored, excluded.stored), at = now()
    returning before)`

/** The same for a transaction of several statements. Resolves with how many of the first of `count` rows are stored. */
export async function markStored(
  tx: Queryable,
  { writer, before }: Mark,
  count: number,
): Promise<number> {
  const [row] = await tx.query<{ before: number }>(
    `with ${marked('$1', '$2')} select before from mark`,
    [writer, before + count],
  )
  return Math.min(count, Math.max(0, (row?.before ?? 0) - before))
}

interface BufferOptions<Item> {
  readonly everyMs: number
  /** The number of newest rows that are kept while the database is unavailable. */
  readonly capacity: number
  /** Their name in the log. */
  readonly rows: string
  readonly logger: Pick<Logger, 'warn' | 'error'>
  /** Stores the mark with the rows, so that none is stored twice. */
  write(items: readonly Item[], mark: Mark): Promise<void>
  onFailure?(): void
}

/** Logs a row that is lost. */
export const refusal =
  ({ rows, logger }: Pick<BufferOptions<never>, 'rows' | 'logger'>) =>
  (err: unknown) =>
    logger.error({ err }, `one of ${rows} is left out: the database will never take it`)

/** Rows that may be written a moment late, many at a time: off the hot path, never out of order. */
export class WriteBuffer<Item> {
  readonly #options: BufferOptions<Item>
  readonly #flusher: Flusher
  readonly #writer = randomUUID()
  #items: Item[] = []
  #writing = 0
  #added = 0

  constructor(options: BufferOptions<Item>) {
    this.#options = options
    this.#flusher = new Flusher(options.everyMs, () => this.#write())
  }

  /** Rows that are not written yet. */
  get size(): number {
    return this.#items.length + this.#writing
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#added++
    this.#flusher.schedule()
  }

  flush(): Promise<void> {
    return this.#flusher.flush()
  }

  async #write(): Promise<void> {
    if (this.#items.length === 0) return
    const items = this.#items
    const writer = this.#writer
    const before = this.#added - items.length
    const { write, capacity, rows, logger, onFailure } = this.#options
    const leftOut = refusal(this.#options)
    this.#items = []
    this.#writing = items.length
    const { settled, cause } = await writeInOrder({
      count: items.length,
      most: items.length,
      write: (from, to) => write(items.slice(from, to), { writer, before: before + from }),
      refused: (_, refused) => leftOut(refused),
    })
    this.#writing = 0
    if (settled === items.length) return
    this.#items = [...items.slice(settled), ...this.#items].slice(-capacity)
    onFailure?.()
    logger.warn({ err: cause, kept: this.#items.length }, `${rows} could not be written`)
    throw cause
  }
}

/** The largest number of values in one write. */
const LATEST_AT_ONCE = 500

interface LatestOptions<Key, Value>
  extends Omit<BufferOptions<readonly [Key, Value]>, 'capacity' | 'write'> {
  /** Sets values, so that the same is written twice without harm. */
  write(entries: readonly (readonly [Key, Value])[]): Promise<void>
}

/** The newest value of each key, written a moment late: older values of a key are never written. */
export class Latest<Key, Value> {
  readonly #options: LatestOptions<Key, Value>
  readonly #flusher: Flusher
  readonly #values = new Map<Key, Value>()

  constructor(options: LatestOptions<Key, Value>) {
    this.#options = options
    this.#flusher = new Flusher(options.everyMs, () => this.#write())
  }

  set(key: Key, value: Value): void {
    this.#values.set(key, value)
    this.#flusher.schedule()
  }

  /** The value that is not written yet. */
  get(key: Key): Value | undefined {
    return this.#values.get(key)
  }

  flush(): Promise<void> {
    return this.#flusher.flush()
  }

  /** In steps: others are served while one of them is written. */
  async #write(): Promise<void> {
    const entries = [...this.#values]
    const { write, rows, logger, onFailure } = this.#options
    const leftOut = refusal(this.#options)
    const forget = (some: readonly (readonly [Key, Value])[]) => {
      for (const [key, value] of some) {
        if (this.#values.get(key) === value) this.#values.delete(key)
      }
    }
    const { settled, cause } = await writeInOrder({
      count: entries.length,
      most: LATEST_AT_ONCE,
      async write(from, to) {
        const some = entries.slice(from, to)
        await write(some)
        forget(some)
      },
      refused(place, refused) {
        forget(entries.slice(place, place + 1))
        leftOut(refused)
      },
    })
    if (settled === entries.length) return
    onFailure?.()
    logger.warn({ err: cause, kept: entries.length - settled }, `${rows} could not be written`)
    throw cause
  }
}

interface TogetherOptions<Item, Result> {
  /** Items of one statement. */
  readonly most: number
  /** The first statement waits for the end of the event loop's turn: many callers come in the same turn. */
  readonly isGathered?: boolean
  /** After a statement for several items the next one waits so many milliseconds, so that more share it; after one for a single item it does not. */
  readonly restMs?: number | undefined
  /** Whose rows an item locks: while somebody keeps a row locked, its owner's items wait alone. */
  ownerOf?(item: Item): number
  /** All or none. Resolves with a result for each item, in their order. */
  run(items: readonly Item[]): Promise<readonly Result[]>
}

type Waiting<Item, Result> = Omit<PromiseWithResolvers<Result>, 'promise'> & { readonly item: Item }

/** Statements of single owners at a time: each may wait for a lock on a connection of its own. */
const OWNERS_AT_ONCE = 4
/** How long one of them waits for its turn: the shared statement has waited before. */
const TURN_MS = 4_000

/** Statements that callers wait for: the first is made at once, and those that arrive meanwhile share the next one. */
export class SharedStatements<Item, Result> {
  readonly #options: TogetherOptions<Item, Result>
  /** Owners whose items do not share a statement now: one of them has a locked row. */
  readonly #alone = new Map<number, SharedStatements<Item, Result>>()
  readonly #turns = new FairSemaphore({ places: OWNERS_AT_ONCE })
  #waiting: Waiting<Item, Result>[] = []
  #isRunning = false
  /** Whether a row was in the way of the last statement. */
  #isBlocked = false

  constructor(options: TogetherOptions<Item, Result>) {
    this.#options = options
  }

  /** Rejects for this item alone or for those of its owner, unless the database is away. */
  run(item: Item): Promise<Result> {
    const owner = this.#options.ownerOf?.(item) ?? Number.NaN
    const alone = this.#alone.get(owner)
    // Until one of its statements succeeds: each new item would have all others wait for the row once more.
    if (alone && (alone.#isRunning || alone.#isBlocked)) return alone.run(item)
    this.#alone.delete(owner)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#isRunning) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#isRunning = true
    if (this.#options.isGathered) await endOfTurn()
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, this.#options.most)
      await this.#together(some)
      if (this.#options.restMs && some.length > 1) await pause(this.#options.restMs)
    }
    this.#isRunning = false
  }

  async #together(some: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(some.map(({ item }) => item))
      this.#isBlocked = false
      for (const [place, { resolve }] of some.entries()) resolve(results[place] as Result)
    } catch (cause) {
      this.#isBlocked = mayBeOneRow(cause)
      if (this.#isBlocked && this.#separate(some, cause)) return
      const isAway = cause instanceof RequestFailed && cause.failure.code === 'unavailable'
      if (isAway || some.length === 1) for (const { reject } of some) reject(cause)
      else for (const one of some) await this.#together([one])
    }
  }

  /** Tries again with a statement for each owner; the next shared statement does not wait for them. False for a single owner. */
  #separate(some: readonly Waiting<Item, Result>[], cause: unknown): boolean {
    const { ownerOf, most, run } = this.#options
    if (!ownerOf) return false
    const owners = new Set(some.map(({ item }) => ownerOf(item)))
    if (owners.size === 1) return false
    const options = { most, run: (own: readonly Item[]) => this.#inTurn(() => run(own), cause) }
    for (const owner of owners) this.#alone.set(owner, new SharedStatements(options))
    // Those that came meanwhile stay behind those that came before.
    for (const one of [...some, ...this.#waiting.splice(0)]) {
      const line = this.#alone.get(ownerOf(one.item)) ?? this
      line.#waiting.push(one)
      if (!line.#isRunning) void line.#drain()
    }
    return true
  }

  async #inTurn<Done>(work: () => Promise<Done>, cause: unknown): Promise<Done> {
    if ((await this.#turns.take(0, AbortSignal.timeout(TURN_MS))) === false) throw cause
    try {
      return await work()
    } finally {
      this.#turns.release(0)
    }
  }
}

/** Rows by their keys, looked up together where many are asked for at the same moment. */
export const sharedLookup = <Key, Row>(
  most: number,
  find: (keys: readonly Key[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
  restMs?: number,
): SharedStatements<Key, Row | undefined> =>
  new SharedStatements({
    most,
    restMs,
    async run(keys) {
      const rows = new Map((await find(keys)).map((row) => [keyOf(row), row]))
      return keys.map((key) => rows.get(key))
    },
  })

/** An array of numbers or booleans in PostgreSQL's text form: the driver's own conversion looks at each value's type. */
export const arrayLiteral = (values: readonly (number | boolean | null | undefined)[]): string =>
  `{${values.map((value) => value ?? 'null').join(',')}}`

/** The object id of the type `text` in every PostgreSQL. */
const TEXT = 25
const INT_BYTES = 4
/** Dimensions, whether it has nulls, the type of its elements; then its length and its first index. */
const HEAD_BYTES = 5 * INT_BYTES
/** Stands for the length of an element that is null. */
const NULL = -1

/**
 * An array for a parameter `text[]` in PostgreSQL's binary form, which the driver sends as it is: nothing in it is
 * escaped, and JSON is full of quotes.
 */
export function textArray(values: readonly (string | null | undefined)[]): Buffer {
  const lengths = values.map((value) => (value == null ? NULL : Buffer.byteLength(value)))
  const bytes = lengths.reduce((sum, length) => sum + INT_BYTES + Math.max(0, length), HEAD_BYTES)
  const array = Buffer.allocUnsafe(bytes)
  const hasNulls = lengths.includes(NULL) ? 1 : 0
  let at = 0
  for (const head of [1, hasNulls, TEXT, values.length, 1]) at = array.writeInt32BE(head, at)
  // By number: pairs would be garbage for each text of each request in the log.
  for (let place = 0; place < values.length; place++) {
    at = array.writeInt32BE(lengths[place] ?? NULL, at)
    at += array.write(values[place] ?? '', at)
  }
  return array
}
