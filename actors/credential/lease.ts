/** How long this node may act for what it claimed, once it no longer hears from the database that it still owns it. */

/** A node that falls silent has stopped acting long before others may take its accounts for left behind. */
const LEASE_MS = 7_000

/** No wall clock: it also runs on while the process is held up. */
const monotonic = () => performance.now()

export class Lease {
  readonly #now: () => number
  #until: number

  constructor(now = monotonic) {
    this.#now = now
    this.#until = now() + LEASE_MS
  }

  /** `askedAt` is when the question was sent whose answer confirms the ownership: the answer may have taken long. */
  renew(askedAt: number): void {
    this.#until = Math.max(this.#until, askedAt + LEASE_MS)
  }

  get isValid(): boolean {
    return this.#now() < this.#until
  }

  now(): number {
    return this.#now()
  }
}
