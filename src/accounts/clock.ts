/** The time, handed in so that a test can set it, and what is remembered for a few seconds of it. */
import { LRUCache } from 'lru-cache'

/** The present time. */
export type Clock = () => Date

const SECOND = 1_000

export const secondsAfter = (date: Date, seconds: number) =>
  new Date(date.getTime() + seconds * SECOND)

/** Whole seconds to wait from `now` to `then`; never less than one. */
export const secondsUntil = (then: Date, now: Date) =>
  Math.max(1, Math.ceil((then.getTime() - now.getTime()) / SECOND))

/** A revocation at another node takes effect here after at most this time, where its hint is lost. */
const MILLISECONDS = 5_000

/** A cache of answers, so that not every request asks the database. */
export class Recent<Key extends string | number, Answer> {
  readonly #clock: Clock
  readonly #revoked: () => void
  readonly #answers = new LRUCache<Key, { readonly answer: Answer; readonly at: number }>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
  })
  #revocations = 0

  /** `revoked` is called when something was, for the other nodes. */
  constructor(clock: Clock, revoked: () => void = () => undefined) {
    this.#clock = clock
    this.#revoked = revoked
  }

  async get(key: Key, load: () => Promise<Answer>): Promise<Answer> {
    const at = this.#clock().getTime()
    const known = this.#answers.get(key)
    if (known && at >= known.at && at - known.at < MILLISECONDS) return known.answer
    const revocations = this.#revocations
    const answer = await load()
    // Not cached if something was revoked during the read.
    if (revocations === this.#revocations) this.#answers.set(key, { answer, at })
    return answer
  }

  forget(key: Key): void {
    this.#revocations++
    this.#answers.delete(key)
    this.#revoked()
  }

  forgetAll(): void {
    this.clear()
    this.#revoked()
  }

  /** Something was revoked at another node. */
  clear(): void {
    this.#revocations++
    this.#answers.clear()
  }
}
