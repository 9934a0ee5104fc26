/** What happens to an account all the time: a person writes to it, and its bot writes back. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '../support/client.ts'

interface LoadOptions {
  readonly client: Client
  readonly key: string
  readonly to: string
  readonly from: number
  readonly perSecond: number
}

const WRITE_WITHIN_MS = 2_000

export class Load {
  /** What was taken, in order. */
  readonly written: string[] = []
  /** What the bot was told to be sent. */
  readonly sent: string[] = []
  /** The connection was lost, or the answer said that nobody knows. */
  readonly unknown: string[] = []
  readonly #options: LoadOptions
  #isOver = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(options: LoadOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = Promise.all([this.#write(), this.#send()])
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  async #write(): Promise<void> {
    const { client, from, to } = this.#options
    for (let n = 1; !this.#isOver; n++) {
      const text = `${n} to ${to}`
      const written = client.ask('POST', `/sandbox/people/${from}/messages`, { to, text })
      // Nobody waits for a frozen process: what it may have taken does not count as written.
      const answer = await Promise.race([written, pause(WRITE_WITHIN_MS)]).catch(() => undefined)
      written.catch(() => undefined)
      if (answer?.body?.ok) this.written.push(text)
      await this.#rest()
    }
  }

  async #send(): Promise<void> {
    const { client, key, from, to } = this.#options
    for (let n = 1; !this.#isOver; n++) {
      const text = `${n} from ${to}`
      const answer = await client
        .bot(key, 'sendMessage', { chat_id: from, text })
        .catch(() => undefined)
      if (answer?.body?.ok) this.sent.push(text)
      else if (answer === undefined || answer.status === 504) this.unknown.push(text)
      await this.#rest()
    }
  }

  #rest(): Promise<void> {
    return pause((1_000 / this.#options.perSecond) * (0.5 + Math.random()))
  }
}
