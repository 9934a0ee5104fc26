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
/** A look that comes later than this shows that the process, or the machine, stood still. */
const LATE_MS = 1_000
/**
 * So many late looks in a row leave open whether the lease has ended: the answers of the database that have come meanwhile,
 * and those to the next questions, are heard first.
 */
const LATE_LOOKS = 3

/**
 * How long this node may act for what it claimed, once it no longer hears from the database: that its beats count, and what it
 * owns. Both are as old as the questions.
 */
export class Lease {
  readonly #clock: Clock
  readonly #ends = new Set<() => void>()
  /** When the last beat was sent that was counted. */
  #heardAt: number
  /** When it was last asked for what it owns. */
  #confirmedAt: number
  #timer: unknown
  /** When the next look is due. */
  #lookAt = 0
  #lateLooks = 0
  #renewed = Promise.withResolvers<void>()
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#heardAt = this.#confirmedAt = this.#lookAt = clock.now()
    this.#look()
  }

  /** A beat was counted: so by this time no other node had declared this one gone. */
  heard(sentAt: number): void {
    this.#heardAt = Math.max(this.#heardAt, sentAt)
    this.#renew()
  }

  /** The database has said what this node owns. */
  confirmed(askedAt: number): void {
    this.#confirmedAt = Math.max(this.#confirmedAt, askedAt)
    this.#renew()
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

  get #until(): number {
    return Math.min(this.#heardAt, this.#confirmedAt) + LEASE_MS
  }

  #renew(): void {
    if (!this.isValid) return
    this.#renewed.resolve()
    this.#renewed = Promise.withResolvers()
    this.#lateLooks = 0
    this.#lookIn(this.#until - this.#clock.now())
  }

  #look(): void {
    const now = this.#clock.now()
    const leftMs = this.#until - now
    const isLate = now - this.#lookAt > LATE_MS
    if (leftMs > 0) this.#lookIn(leftMs)
    else if (isLate && ++this.#lateLooks <= LATE_LOOKS) this.#lookIn(LOOK_MS)
    else for (const listener of [...this.#ends]) listener()
  }

  #lookIn(milliseconds: number): void {
    this.#clock.clearTimeout(this.#timer)
    if (this.#isStopped) return
    const pauseMs = Math.max(1, Math.min(LOOK_MS, milliseconds))
    this.#lookAt = this.#clock.now() + pauseMs
    this.#timer = this.#clock.setTimeout(() => this.#look(), pauseMs)
  }
}

/** The permit of one session: it follows the lease, and ends with the session. */
export class SessionPermit implements WritePermit {
  readonly #lease: Pick<Lease, 'isValid' | 'valid' | 'onEnd'>
  readonly #ends: (() => void)[] = []
  readonly #over = Promise.withResolvers<void>()
  #leave = () => {}
  #isOver = false

  /** An exclusive one ends with the lease: the next owner will open a session, and there must never be two. */
  constructor(lease: Pick<Lease, 'isValid' | 'valid' | 'onEnd'>, isExclusive: boolean) {
    this.#lease = lease
    if (isExclusive) this.#leave = lease.onEnd(() => this.end())
  }

  get isValid(): boolean {
    return !this.#isOver && this.#lease.isValid
  }

  async valid(): Promise<void> {
    // After a pause of the process a write may come before it is known whether the session goes on.
    if (!this.#isOver) await Promise.race([this.#lease.valid(), this.#over.promise])
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
    this.#over.resolve()
    this.#leave()
    for (const listener of this.#ends.splice(0)) listener()
  }
}
