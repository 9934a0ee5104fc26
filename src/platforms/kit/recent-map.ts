/** Maps for thousands of accounts, most of which have nothing in them. */
import { hash, randomUUID } from 'node:crypto'

const nothing = new Map<never, never>()

/** A map that takes hardly any memory while it is empty. */
export class SparseMap<Key, Value> {
  #entries: Map<Key, Value> | undefined

  get size(): number {
    return this.#entries?.size ?? 0
  }

  get(key: Key): Value | undefined {
    return this.#entries?.get(key)
  }

  has(key: Key): boolean {
    return this.#entries?.has(key) ?? false
  }

  set(key: Key, value: Value): this {
    this.#entries ??= new Map()
    this.#entries.set(key, value)
    return this
  }

  delete(key: Key): boolean {
    const wasThere = this.#entries?.delete(key) ?? false
    if (this.#entries?.size === 0) this.clear()
    return wasThere
  }

  clear(): void {
    this.#entries = undefined
  }

  keys(): MapIterator<Key> {
    return (this.#entries ?? nothing).keys()
  }

  values(): MapIterator<Value> {
    return (this.#entries ?? nothing).values()
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return (this.#entries ?? nothing)[Symbol.iterator]()
  }
}

/** Keeps its newest entries: setting a key makes it the newest, and beyond the limit the oldest goes. */
export class RecentMap<Key, Value> extends SparseMap<Key, Value> {
  readonly #limit: number
  /** Goes on where it found the last oldest key, because a new pass would skip over all that were deleted. */
  #oldest: MapIterator<Key> | undefined
  /** How often it was set since then: for an iterator that stands still, V8 keeps each table that the map has left. */
  #setsSince = 0

  constructor(limit: number) {
    super()
    this.#limit = limit
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    this.#setsSince++
    if (this.#setsSince > this.#limit) this.#oldest = undefined
    if (this.size <= this.#limit) return this
    this.#setsSince = 0
    this.#oldest ??= this.keys()
    const { value: oldest, done } = this.#oldest.next()
    if (!done) this.delete(oldest)
    return this
  }

  override clear(): void {
    this.#oldest = undefined
    super.clear()
  }
}

/**
 * Names for reports of a state that have no number: the same state again is the same report, while one that comes back after
 * another is a new one. What came before this session is not known.
 */
export class ReportNames {
  readonly #last: RecentMap<string, { readonly state: string; readonly name: string }>

  constructor(limit: number) {
    this.#last = new RecentMap(limit)
  }

  of(subject: string, state: unknown): string {
    const digest = hash('sha256', JSON.stringify(state), 'base64url')
    const last = this.#last.get(subject)
    const name = last?.state === digest ? last.name : randomUUID()
    this.#last.set(subject, { state: digest, name })
    return name
  }
}
