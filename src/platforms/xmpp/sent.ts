/** What this session has sent lately: recognised when the archive or another device shows it again. */
const mostRemembered = 500

export class Sent {
  readonly #times = new Map<string, number>()

  add(id: string, at: number) {
    this.#times.delete(id)
    this.#times.set(id, at)
    if (this.#times.size <= mostRemembered) return
    const [oldest] = this.#times.keys()
    if (oldest !== undefined) this.#times.delete(oldest)
  }

  has(id: string): boolean {
    return this.#times.has(id)
  }

  /** Unix time in seconds. */
  at(id: string): number | undefined {
    return this.#times.get(id)
  }
}
