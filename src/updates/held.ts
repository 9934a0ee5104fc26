/** How much of the heap the logs may hold, and who gives way: what rested longest, as soon as there is too much. */
import { getHeapStatistics } from 'node:v8'

const MEGABYTE = 2 ** 20

/** Of the heap that the process may grow to. */
const SHARE_HELD = 1 / 8
const SHARE_STORING = 1 / 32
const MOST_HELD = 512 * MEGABYTE
/** One event on its way: read from the network, translated, and as a row of the statement. */
const EVENT_BYTES = 4_096
const FEWEST_EVENTS = 500

export interface Bounds {
  /** Bytes of updates and source keys that logs keep in memory, all together. */
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

export interface Holder {
  /** Estimated bytes. */
  readonly heldBytes: number
  letGo(): void
}

/** The holders in the order in which they were used last. */
export class HeldMemory<Owner extends Holder> {
  readonly #most: number
  readonly #order = new Map<Owner, number>()
  #bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  get bytes(): number {
    return this.#bytes
  }

  /** To be called after a holder has changed. */
  used(owner: Owner): void {
    this.#bytes -= this.#order.get(owner) ?? 0
    this.#order.delete(owner)
    const { heldBytes } = owner
    if (heldBytes > 0) this.#order.set(owner, heldBytes)
    this.#bytes += heldBytes
    for (const [other] of this.#order) {
      if (this.#bytes <= this.#most) return
      other.letGo()
      this.forget(other)
    }
  }

  /** The holder has less than before, and keeps its place. */
  shrunk(owner: Owner): void {
    const before = this.#order.get(owner)
    if (before === undefined) return
    const { heldBytes } = owner
    this.#order.set(owner, heldBytes)
    this.#bytes += heldBytes - before
  }

  /** The holder is gone, or holds nothing any more. */
  forget(owner: Owner): void {
    this.#bytes -= this.#order.get(owner) ?? 0
    this.#order.delete(owner)
  }
}

/** Lets as many events in as there is room for; the others wait in order. One batch alone always fits. */
export class Room {
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
      // Counted here: whoever comes before it has gone on must find the room taken.
      this.#events += next.events
      next.enter()
    }
  }
}
