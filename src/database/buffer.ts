/** Rows that may be written a moment late, many at a time: off the hot path, never out of order. */
import { Flusher } from './flusher.ts'

export interface BufferOptions<Item> {
  readonly everyMs: number
  /** Newest kept when the database is away for long. */
  readonly capacity: number
  write(items: readonly Item[]): Promise<void>
  onFailure(cause: unknown, kept: number): void
}

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
