/** Which archive ids were stored lately, to begin the next reading of the archive a little before the end. */

/** Within this time a server has shown all that it gave an id before. */
const settledMilliseconds = 5_000
const mostRemembered = 100

export class RecentIds {
  /** The oldest first. */
  readonly #stored: { readonly id: string; readonly at: number }[] = []
  #before: string | undefined

  constructor(before: string | undefined) {
    this.#before = before
  }

  /** What the archive has up to this id is stored for certain; `undefined`: nothing is. */
  get before(): string | undefined {
    return this.#before
  }

  add(id: string, now = performance.now()) {
    if (this.#stored.at(-1)?.id === id) return
    this.#stored.push({ id, at: now })
    for (;;) {
      const [oldest] = this.#stored
      const isSettled = oldest !== undefined && now - oldest.at >= settledMilliseconds
      if (!oldest || (!isSettled && this.#stored.length <= mostRemembered)) return
      this.#stored.shift()
      this.#before = oldest.id
    }
  }
}
