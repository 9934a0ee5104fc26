/** A room's own ids of its recent messages, found by the ids that their writers gave them. */
const mostRemembered = 1_000

export class Ids {
  readonly #natives = new Map<string, string>()

  get isEmpty(): boolean {
    return this.#natives.size === 0
  }

  /** The same id by two writers is two messages: nobody can change what another one wrote. */
  remember(writer: string, id: string, native: string) {
    this.#natives.set(key(writer, id), native)
    if (this.#natives.size <= mostRemembered) return
    const [oldest] = this.#natives.keys()
    if (oldest !== undefined) this.#natives.delete(oldest)
  }

  find(writer: string, id: string): string | undefined {
    return this.#natives.get(key(writer, id))
  }

  wrote(writer: string, native: string): boolean {
    return [...this.#natives].some(
      ([place, known]) => known === native && place.startsWith(`${writer}\n`),
    )
  }
}

const key = (writer: string, id: string) => `${writer}\n${id}`
