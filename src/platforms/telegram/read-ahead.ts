/** How far a download runs ahead of its reader: the library itself fetches a whole file, however slowly it is read. */

export class ReadAhead {
  readonly #limit: number
  #asked = 0
  #taken = 0
  #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Resolves once the next `bytes` may be asked for. They count from where they begin, so the first ones never wait. */
  readonly turn = async (bytes: number): Promise<void> => {
    const from = this.#asked
    this.#asked += bytes
    while (from - this.#taken > this.#limit) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  take(bytes: number): void {
    this.#taken += bytes
    this.#wake()
  }

  /** Nobody waits any more: the library looks itself whether the download is over. */
  end(): void {
    this.#taken = Number.POSITIVE_INFINITY
    this.#wake()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
