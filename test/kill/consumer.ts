/** A bot that long-polls one key: it notes every update it is given and whatever it should not have been given. */
import { setTimeout as pause } from 'node:timers/promises'

interface Update {
  readonly update_id: number
  readonly message: {
    readonly message_id: number
    readonly text: string
    readonly chat: { readonly id: number }
  }
}

interface Answer {
  readonly result?: Update[]
  readonly description?: string
}

export interface Delivered {
  readonly text: string
  readonly chatId: number
  readonly messageId: number
}

const AGAIN_MS = 20
/** What the bot does with a page. */
const WORK_MS = 10

/** What the kill test wants to know of whoever receives. */
export interface KillConsumer {
  readonly delivered: ReadonlyMap<number, Delivered>
  readonly violations: readonly string[]
  readonly duplicates: number
  /** The newest update of which it is certain that none before is missing. */
  readonly last: number
  start(): void
  forget(): void
  stop(): Promise<void>
}

export class Consumer implements KillConsumer {
  readonly delivered = new Map<number, Delivered>()
  readonly violations: string[] = []
  duplicates = 0
  last = 0
  readonly #urls: readonly string[]
  #at = 0
  readonly #stopping = new AbortController()
  /** It forgot where it was: the service has to know. */
  #forgot = true
  #running: Promise<void> = Promise.resolve()

  /** The addresses up to the method's name; where one refuses, the next one is asked. */
  constructor(...urls: readonly string[]) {
    this.#urls = urls
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Like a bot that is started anew: what it is given again then is no fault. */
  forget(): void {
    this.#forgot = true
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run() {
    while (!this.#stopping.signal.aborted) {
      const offset = this.#forgot ? 0 : this.last + 1
      try {
        const updates = await this.#poll(offset)
        if (updates.length > 0) {
          this.#forgot &&= offset !== 0
          this.#note(offset, updates)
        }
        await pause(WORK_MS)
      } catch {
        // The service is away, which is what this is about.
        this.#at++
        await pause(AGAIN_MS)
      }
    }
  }

  async #poll(offset: number): Promise<Update[]> {
    const url = this.#urls[this.#at % this.#urls.length]
    const response = await fetch(`${url}/getUpdates?timeout=3&offset=${offset}`, {
      signal: AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(10_000)]),
    })
    const { result, description } = (await response.json()) as Answer
    if (!result) throw new Error(description)
    return result
  }

  #note(offset: number, updates: readonly Update[]) {
    const first = updates[0]?.update_id ?? 0
    if (this.last > 0 && first > this.last + 1)
      this.#blame(`${this.last + 1} to ${first - 1} left out`)
    if (offset > 0 && first < offset) this.#blame(`${first} came though ${offset} was asked for`)
    for (const [index, update] of updates.entries()) {
      if (update.update_id !== first + index) this.#blame(`${update.update_id} is out of turn`)
      this.#keep(update)
    }
  }

  #keep({ update_id, message }: Update) {
    const { text, message_id: messageId, chat } = message
    const known = this.delivered.get(update_id)
    if (!known) this.delivered.set(update_id, { text, messageId, chatId: chat.id })
    else if (known.text !== text || known.messageId !== messageId) {
      this.#blame(`${update_id} was ${known.text}, then ${text}`)
    } else this.duplicates++
    this.last = Math.max(this.last, update_id)
  }

  #blame(what: string) {
    this.violations.push(`update ${what}`)
  }
}
