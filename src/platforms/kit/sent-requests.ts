/** The requests by which this session sent lately, to recognize them in echoes, in archives and when they are repeated. */
import { RecentMap } from './recent-map.ts'

const MOST_REMEMBERED = 500

interface Memory {
  /** Unix time in seconds. */
  readonly at: number
  /** Whether the network is known to have carried it out. */
  confirmed: boolean
  /** The id that the chat knows the message by, where that is another one. */
  native?: string
}

export type SentRequest = readonly [id: string, memory: Readonly<Memory>]

/** By the client's own id of each request. */
export class SentRequests {
  readonly #memories = new RecentMap<string, Memory>(MOST_REMEMBERED)

  add(id: string, at = Math.floor(Date.now() / 1000)) {
    this.#memories.set(id, { at, confirmed: false })
  }

  /** The newest, and the oldest of them first, for the session that follows in another process. */
  newest(count: number): readonly SentRequest[] {
    return [...this.#memories].slice(-count)
  }

  /** Of the session before. */
  restore(sent: readonly SentRequest[]) {
    for (const [id, memory] of sent) this.#memories.set(id, { ...memory })
  }

  confirm(id: string) {
    const memory = this.#memories.get(id)
    if (memory) memory.confirmed = true
  }

  /** The chat gave the message an id of its own. */
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

  /** It is certain that no message was sent by this request. */
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
