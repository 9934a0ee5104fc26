/** The lease: whether this node may still act for what it claimed, by a time that also shows a pause of the whole machine. */
import { LEASE_MS } from '../../machines/node/machine.ts'
import type { WritePermit } from '../ports/platform.ts'
import type { Clock } from '../ports/ports.ts'

/** The two clocks differ by more than this only if the machine stood still, or if the time of day was set. */
const JUMP_MS = 2_000

/**
 * Milliseconds that run on evenly. While a machine is suspended only the time of day goes on, so a jump of it counts as
 * time that has passed, even if the time of day was only set: the two cannot be told apart.
 */
export class SteadyTime {
  readonly #even: () => number
  readonly #ofDay: () => number
  #difference: number
  #passedUnseen = 0

  constructor(even = () => performance.now(), ofDay = () => Date.now()) {
    this.#even = even
    this.#ofDay = ofDay
    this.#difference = ofDay() - even()
  }

  now(): number {
    const even = this.#even()
    const difference = this.#ofDay() - even
    const jump = Math.abs(difference - this.#difference)
    // The small differences are those of two clocks, and must not add up to a jump.
    this.#difference = difference
    if (jump > JUMP_MS) this.#passedUnseen += jump
    return even + this.#passedUnseen
  }
}

/** How often a lease looks whether it has ended: a timer alone would not notice that the machine stood still. */
const LOOK_MS = 500

/** How long this node may act for what it claimed, once it no longer hears from the database that it still owns it. */
export class Lease {
  readonly #clock: Clock
  readonly #ends = new Set<() => void>()
  #until: number
  #timer: unknown
  #renewed = Promise.withResolvers<void>()
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#until = clock.now() + LEASE_MS
    this.#look()
  }

  /** `askedAt` is when the question was sent whose answer confirms the ownership: the answer may have taken long. */
  renew(askedAt: number): void {
    this.#until = Math.max(this.#until, askedAt + LEASE_MS)
    if (!this.isValid) return
    this.#renewed.resolve()
    this.#renewed = Promise.withResolvers()
    this.#look()
  }

  get isValid(): boolean {
    return this.#clock.now() < this.#until
  }

  now(): number {
    return this.#clock.now()
  }

  /** Calls back once it has ended. Returns how to stop listening. */
  onEnd(listener: () => void): () => void {
    this.#ends.add(listener)
    return () => void this.#ends.delete(listener)
  }

  /** Resolves once it is valid. */
  async valid(): Promise<void> {
    while (!this.isValid) await this.#renewed.promise
  }

  stop(): void {
    this.#isStopped = true
    this.#clock.clearTimeout(this.#timer)
  }

  #look(): void {
    this.#clock.clearTimeout(this.#timer)
    if (this.#isStopped) return
    if (!this.isValid) {
      for (const listener of [...this.#ends]) listener()
      return
    }
    const leftMs = Math.max(1, Math.min(LOOK_MS, this.#until - this.#clock.now()))
    this.#timer = this.#clock.setTimeout(() => this.#look(), leftMs)
  }
}

/** The permit of one session: it follows the lease, and ends with the session. */
export class SessionPermit implements WritePermit {
  readonly #lease: Pick<Lease, 'isValid' | 'valid' | 'onEnd'>
  readonly #isExclusive: boolean
  readonly #ends: (() => void)[] = []
  #leave = () => {}
  #isOver = false

  /** An exclusive one ends with the lease: the next owner will open a session, and there must never be two. */
  constructor(lease: Pick<Lease, 'isValid' | 'valid' | 'onEnd'>, isExclusive: boolean) {
    this.#lease = lease
    this.#isExclusive = isExclusive
    if (isExclusive) this.#leave = lease.onEnd(() => this.end())
  }

  get isValid(): boolean {
    return !this.#isOver && this.#lease.isValid
  }

  async valid(): Promise<void> {
    // After a pause of the process a write may come before the lease has noticed its end.
    if (this.#isExclusive && !this.#lease.isValid) this.end()
    if (!this.#isOver) await this.#lease.valid()
    if (this.#isOver) throw new Error('This node may not speak for the account any more')
  }

  onEnd(listener: () => void): void {
    if (this.#isOver) listener()
    else this.#ends.push(listener)
  }

  /** Writes that wait for the lease are given up. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#leave()
    for (const listener of this.#ends.splice(0)) listener()
  }
}
