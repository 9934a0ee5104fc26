/** A room's own ids of its recent messages, found by the ids that their writers gave them. */
import { RecentMap } from '../../kit/recent-map.ts'

const mostRemembered = 1_000

export class Ids {
  readonly #natives = new RecentMap<string, string>(mostRemembered)

  get isEmpty(): boolean {
    return this.#natives.size === 0
  }

  /** The same id by two writers is two messages: nobody can change what another one wrote. */
  remember(writer: string, id: string, native: string) {
    this.#natives.set(key(writer, id), native)
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
