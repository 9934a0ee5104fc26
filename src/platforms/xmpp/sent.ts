/** The messages that this session has sent lately, to recognize them in the archive and in repeated requests. */
import { RecentMap } from '../kit/recent-map.ts'

const mostRemembered = 500

interface Memory {
  /** Unix time in seconds. */
  readonly at: number
  /** Whether the server is known to have it. */
  confirmed: boolean
  /** The id that the chat knows it by, where that is another one. */
  native?: string
}

export class SentMessages {
  readonly #memories = new RecentMap<string, Memory>(mostRemembered)

  add(id: string, at: number) {
    this.#memories.set(id, { at, confirmed: false })
  }

  confirm(id: string) {
    const memory = this.#memories.get(id)
    if (memory) memory.confirmed = true
  }

  /** A room gave it an id of its own. */
  place(id: string, native: string) {
    const memory = this.#memories.get(id)
    if (memory) memory.native = native
  }

  /** By the id that the chat knows it by. */
  findNative(native: string): { readonly id: string; readonly at: number } | undefined {
    const known = this.#memories.get(native)
    if (known && known.native === undefined) return { id: native, at: known.at }
    const found = [...this.#memories].find(([, memory]) => memory.native === native)
    return found && { id: found[0], at: found[1].at }
  }

  /** It is certain that no message was sent with this id. */
  forget(id: string) {
    this.#memories.delete(id)
  }

  find(id: string): Readonly<Memory> | undefined {
    return this.#memories.get(id)
  }

  has(id: string): boolean {
    return this.#memories.has(id)
  }
}
