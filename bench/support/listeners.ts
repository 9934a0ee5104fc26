/** Bots that long-poll, one connection each, and note how long every update took from report to receipt. */
import { Connection, get, REQUESTS } from './connection.ts'
import { now } from './statistics.ts'

/** Connecting all at once would overrun the server's queue of connections. */
const AT_ONCE = 100

interface ReceivedUpdate {
  readonly update_id: number
  readonly message: { readonly text: string }
}

export class Listeners {
  readonly #connections = new Set<Connection>()
  readonly #failed = Promise.withResolvers<never>()
  #onUpdate: (delayMs: number) => void = () => undefined
  #isOver = false

  /** They begin with the update `offset`, or each with its own. */
  static async open(
    port: number,
    keys: readonly string[],
    offset: number | readonly number[] = 0,
  ): Promise<Listeners> {
    const listeners = new Listeners()
    // Told to whoever receives; nobody may do so yet.
    listeners.#failed.promise.catch(() => undefined)
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      const some = keys.slice(at, at + AT_ONCE)
      const offsetOf = (index: number) =>
        typeof offset === 'number' ? offset : (offset[at + index] ?? 0)
      await Promise.all(some.map((key, index) => listeners.#begin(port, key, offsetOf(index))))
    }
    return listeners
  }

  /** Resolves with the delays of the next `count` updates, in milliseconds. */
  receive(count: number): Promise<number[]> {
    const delays: number[] = []
    const all = new Promise<number[]>((resolve) => {
      this.#onUpdate = (delay) => {
        if (delays.push(delay) === count) resolve(delays)
      }
    })
    return Promise.race([all, this.#failed.promise])
  }

  close(): void {
    this.#isOver = true
    for (const connection of this.#connections) connection.close()
  }

  async #begin(port: number, key: string, offset: number): Promise<void> {
    const connection = await this.#connect(port)
    this.#poll(connection, port, key, offset).catch((cause) => this.#failed.reject(cause))
  }

  async #connect(port: number): Promise<Connection> {
    const connection = await Connection.open(port)
    this.#connections.add(connection)
    return connection
  }

  async #poll(first: Connection, port: number, key: string, from: number): Promise<void> {
    let offset = from
    let connection = first
    for (let polls = 1; !this.#isOver; polls++) {
      if (polls % REQUESTS === 0) {
        connection.close()
        this.#connections.delete(connection)
        connection = await this.#connect(port)
      }
      const body = await connection.request(
        get(`/bot${key}/getUpdates?timeout=50&offset=${offset}`),
      )
      const received = now()
      const { result } = JSON.parse(body.toString()) as { result: ReceivedUpdate[] }
      for (const { update_id, message } of result) {
        if (offset > 0 && update_id !== offset) throw new Error('an id is missing')
        offset = update_id + 1
        this.#onUpdate(received - Number.parseFloat(message.text))
      }
    }
  }
}
