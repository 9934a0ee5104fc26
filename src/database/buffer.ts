/** Rows that may be written a moment late, many at a time: off the hot path, never out of order. */
export interface BufferOptions<Item> {
  readonly everyMs: number
  /** Newest kept when the database is away for long. */
  readonly capacity: number
  write(items: readonly Item[]): Promise<void>
  onFailure(cause: unknown, kept: number): void
}

export class WriteBuffer<Item> {
  readonly #options: BufferOptions<Item>
  #items: Item[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: BufferOptions<Item>) {
    this.#options = options
  }

  add(item: Item): void {
    this.#items.push(item)
    this.#timer ??= setTimeout(() => void this.flush(), this.#options.everyMs)
  }

  /** Resolves once everything added so far is written, or kept for the next try. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
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
      this.#timer ??= setTimeout(() => void this.flush(), 1_000)
    }
  }
}
