/** When buffered rows are written: a moment after the first of them, one write at a time, again when one failed. */
const RETRY_MS = 1_000

export class Flusher {
  readonly #everyMs: number
  readonly #write: () => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  /** `write` takes what there is; when it rejects the buffer has kept it, and it is called again soon. */
  constructor(everyMs: number, write: () => Promise<void>) {
    this.#everyMs = everyMs
    this.#write = write
  }

  schedule(inMs = this.#everyMs): void {
    this.#timer ??= setTimeout(() => void this.flush(), inMs).unref()
  }

  /** Resolves once everything buffered before the call is written, or kept for the next try. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(this.#write).catch(() => this.schedule(RETRY_MS))
    return this.#writing
  }
}
