/** Answers that may be a few seconds old, so that not every request asks the database. */
import { LRUCache } from 'lru-cache'
import type { Clock } from './clock.ts'

/** What another node revokes takes effect here after so long at most. */
const MILLISECONDS = 5_000

export class Recent<Key extends string | number, Answer> {
  readonly #clock: Clock
  readonly #answers = new LRUCache<Key, { readonly answer: Answer; readonly at: number }>({
    max: 10_000,
  })
  #revocations = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async get(key: Key, load: () => Promise<Answer>): Promise<Answer> {
    const at = this.#clock().getTime()
    const known = this.#answers.get(key)
    if (known && at >= known.at && at - known.at < MILLISECONDS) return known.answer
    const revocations = this.#revocations
    const answer = await load()
    // What was revoked while it was read may still be in it.
    if (revocations === this.#revocations) this.#answers.set(key, { answer, at })
    return answer
  }

  forget(key: Key): void {
    this.#revocations++
    this.#answers.delete(key)
  }

  forgetAll(): void {
    this.#revocations++
    this.#answers.clear()
  }
}
