/** A map that keeps its newest entries: setting a key makes it the newest, and beyond the limit the oldest goes. */
export class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #limit: number
  /** Goes on where it found the last oldest key, because a new pass would skip over all that were deleted. */
  #oldest: MapIterator<Key> | undefined

  constructor(limit: number) {
    super()
    this.#limit = limit
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    if (this.size <= this.#limit) return this
    this.#oldest ??= this.keys()
    const { value: oldest, done } = this.#oldest.next()
    if (!done) this.delete(oldest)
    return this
  }
}
