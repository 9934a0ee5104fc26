/** Bounds the memory of all logs: as soon as they hold too much, the least recently used ones let go. */
import { getHeapStatistics } from 'node:v8'

const MEGABYTE = 2 ** 20

/** Shares of the heap limit of the process. */
const SHARE_HELD = 1 / 8
const SHARE_STORING = 1 / 32
const MOST_HELD = 512 * MEGABYTE
/** Estimated size of one event on its way into the database: as read, as translated, and as a row. */
const EVENT_BYTES = 4_096
const FEWEST_EVENTS = 500

export interface Bounds {
  /** Bytes of updates and source keys that all logs together keep in memory. */
  readonly held: number
  /** Events that may be on their way into the database at once. */
  readonly storing: number
}

export function boundsFor(heapBytes = getHeapStatistics().heap_size_limit): Bounds {
  return {
    held: Math.min(MOST_HELD, heapBytes * SHARE_HELD),
    storing: Math.max(FEWEST_EVENTS, Math.floor((heapBytes * SHARE_STORING) / EVENT_BYTES)),
  }
}

/** Beyond this share of its limit the heap is nearly full: what can be read again from the database gives way. */
const SHARE_FULL = 0.7
const SHARE_WHEN_FULL = 1 / 4
const LOOK_EVERY_MS = 200

/** Whether the heap is nearly full, looked up a few times a second at most. */
export function heapGauge(
  statistics: () => { used_heap_size: number; heap_size_limit: number } = getHeapStatistics,
  now: () => number = () => performance.now(),
): () => boolean {
  let lookedAt = Number.NEGATIVE_INFINITY
  let isFull = false
  return () => {
    if (now() - lookedAt >= LOOK_EVERY_MS) {
      const { used_heap_size, heap_size_limit } = statistics()
      lookedAt = now()
      isFull = used_heap_size > heap_size_limit * SHARE_FULL
    }
    return isFull
  }
}

export interface Holder {
  /** Estimated bytes. */
  readonly heldBytes: number
  letGo(): void
}

/** The holders, the least recently used first. */
export class HeldMemory<Owner extends Holder> {
  readonly #most: number
  readonly #isHeapFull: () => boolean
  readonly #order = new Map<Owner, number>()
  #bytes = 0

  /** `most`: bytes; a quarter of them while the heap is nearly full. */
  constructor(most: number, isHeapFull: () => boolean = heapGauge()) {
    this.#most = most
    this.#isHeapFull = isHeapFull
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Call it after each change of a holder. */
  used(owner: Owner): void {
    this.#bytes -= this.#order.get(owner) ?? 0
    this.#order.delete(owner)
    const { heldBytes } = owner
    if (heldBytes > 0) this.#order.set(owner, heldBytes)
    this.#bytes += heldBytes
    const most = this.#isHeapFull() ? this.#most * SHARE_WHEN_FULL : this.#most
    // Mostly nothing has to go, and a pass would skip over all places that holders have left.
    if (this.#bytes <= most) return
    for (const [other] of this.#order) {
      other.letGo()
      this.forget(other)
      if (this.#bytes <= most) return
    }
  }

  /** The holder has become smaller; it keeps its place in the order. */
  shrunk(owner: Owner): void {
    const before = this.#order.get(owner)
    if (before === undefined) return
    const { heldBytes } = owner
    this.#order.set(owner, heldBytes)
    this.#bytes += heldBytes - before
  }

  /** The holder has ended, or holds nothing any more. */
  forget(owner: Owner): void {
    this.#bytes -= this.#order.get(owner) ?? 0
    this.#order.delete(owner)
  }
}

/** A counting semaphore for events: batches enter in order while there is room. One batch alone always fits. */
export class EventSemaphore {
  readonly #most: number
  readonly #waiting: { readonly events: number; readonly enter: () => void }[] = []
  #events = 0

  constructor(most: number) {
    this.#most = most
  }

  get waiting(): number {
    return this.#waiting.length
  }

  async within<Result>(events: number, work: () => Promise<Result>): Promise<Result> {
    if (this.#waiting.length > 0 || !this.#fits(events)) {
      await new Promise<void>((enter) => this.#waiting.push({ events, enter }))
    } else this.#events += events
    try {
      return await work()
    } finally {
      this.#events -= events
      this.#letIn()
    }
  }

  #fits(events: number): boolean {
    return this.#events === 0 || this.#events + events <= this.#most
  }

  #letIn(): void {
    for (let [next] = this.#waiting; next && this.#fits(next.events); [next] = this.#waiting) {
      this.#waiting.shift()
      // Counted here, before the batch goes on, so that no other batch takes its room.
      this.#events += next.events
      next.enter()
    }
  }
}
