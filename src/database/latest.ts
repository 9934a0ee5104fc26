/** The newest value of each key, written a moment late: however often it changes, one row. */
import { Flusher } from './flusher.ts'

export interface LatestOptions<Key, Value> {
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

  /** What is not written yet. */
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
