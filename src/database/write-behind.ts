/** Statements made for many at a time: of rows and newest values that may be written a moment late, and those waited for. */
import { RequestFailed } from '../../machines/model/failure.ts'

const RETRY_MS = 1_000

/** When buffered rows are written: a moment after the first of them, one write at a time, again when one failed. */
export class Flusher {
  readonly #everyMs: number
  readonly #write: () => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

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
    this.#writing = this.#writing.then(this.#write).catch(() => this.schedule(RETRY_MS))
    return this.#writing
  }
}

interface BufferOptions<Item> {
  readonly everyMs: number
  /** The number of newest rows that are kept while the database is unavailable. */
  readonly capacity: number
  write(items: readonly Item[]): Promise<void>
  onFailure(cause: unknown, kept: number): void
}

/** Rows that may be written a moment late, many at a time: off the hot path, never out of order. */
export class WriteBuffer<Item> {
  readonly #options: BufferOptions<Item>
  readonly #flusher: Flusher
  #items: Item[] = []

  constructor(options: BufferOptions<Item>) {
    this.#options = options
    this.#flusher = new Flusher(options.everyMs, () => this.#write())
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#flusher.schedule()
  }

  flush(): Promise<void> {
    return this.#flusher.flush()
  }

  async #write(): Promise<void> {
    if (this.#items.length === 0) return
    const items = this.#items
    this.#items = []
    try {
      await this.#options.write(items)
    } catch (cause) {
      this.#items = [...items, ...this.#items].slice(-this.#options.capacity)
      this.#options.onFailure(cause, this.#items.length)
      throw cause
    }
  }
}

interface LatestOptions<Key, Value> {
  readonly everyMs: number
  write(entries: readonly (readonly [Key, Value])[]): Promise<void>
  onFailure(cause: unknown, kept: number): void
}

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

  /** Rows that are not written yet. */
  get(key: Key): Value | undefined {
    return this.#values.get(key)
  }

  flush(): Promise<void> {
    return this.#flusher.flush()
  }

  async #write(): Promise<void> {
    const entries = [...this.#values]
    if (entries.length === 0) return
    try {
      await this.#options.write(entries)
    } catch (cause) {
      this.#options.onFailure(cause, entries.length)
      throw cause
    }
    for (const [key, value] of entries) {
      if (this.#values.get(key) === value) this.#values.delete(key)
    }
  }
}

interface TogetherOptions<Item, Result> {
  /** Items of one statement. */
  readonly most: number
  /** All or none. Resolves with a result for each item, in their order. */
  run(items: readonly Item[]): Promise<readonly Result[]>
}

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(cause: unknown): void
}

/** Statements that callers wait for: the first is made at once, and those that arrive meanwhile share the next one. */
export class SharedStatements<Item, Result> {
  readonly #options: TogetherOptions<Item, Result>
  #waiting: Waiting<Item, Result>[] = []
  #isRunning = false

  constructor(options: TogetherOptions<Item, Result>) {
    this.#options = options
  }

  /** Rejects for this item alone, unless the database is away. */
  run(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#isRunning) void this.#drain()
    })
  }

  async #drain(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      await this.#together(this.#waiting.splice(0, this.#options.most))
    }
    this.#isRunning = false
  }

  async #together(some: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.run(some.map(({ item }) => item))
      for (const [place, { resolve }] of some.entries()) resolve(results[place] as Result)
    } catch (cause) {
      const isAway = cause instanceof RequestFailed && cause.failure.code === 'unavailable'
      if (isAway || some.length === 1) for (const { reject } of some) reject(cause)
      else for (const one of some) await this.#together([one])
    }
  }
}

/** Rows by their keys, looked up together where many are asked for at the same moment. */
export const sharedLookup = <Key, Row>(
  most: number,
  find: (keys: readonly Key[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => Key,
): SharedStatements<Key, Row | undefined> =>
  new SharedStatements({
    most,
    async run(keys) {
      const rows = new Map((await find(keys)).map((row) => [keyOf(row), row]))
      return keys.map((key) => rows.get(key))
    },
  })
