/** A room's own ids of its recent messages, found by the ids that their writers gave them. */
const mostRemembered = 1_000

export class Ids {
  readonly #natives = new Map<string, string>()

  /** The same id by two writers is two messages: nobody can change what another one wrote. */
  remember(nick: string, id: string, native: string) {
    this.#natives.set(key(nick, id), native)
    if (this.#natives.size <= mostRemembered) return
    const [oldest] = this.#natives.keys()
    if (oldest !== undefined) this.#natives.delete(oldest)
  }

  find(nick: string, id: string): string | undefined {
    return this.#natives.get(key(nick, id))
  }

  wrote(nick: string, native: string): boolean {
    return [...this.#natives].some(
      ([writer, known]) => known === native && writer.startsWith(`${nick}\n`),
    )
  }
}

const key = (nick: string, id: string) => `${nick}\n${id}`
