/** A bot behind a webhook: it notes every update it is sent, and what should not have been sent then. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Delivered, KillConsumer } from './consumer.ts'

/** What the bot does with an update: longer for some, so that a kill finds several under way. */
const WORK_MS = 8
const AGAIN_MS = 50

export class HookConsumer implements KillConsumer {
  readonly delivered = new Map<number, Delivered>()
  readonly violations: string[] = []
  duplicates = 0
  readonly #url: string
  readonly #connections: number
  readonly #server = createServer((request, response) => void this.#take(request, response))
  readonly #chats = new Map<string, number>()
  readonly #stopping = new AbortController()
  #open = 0

  /** The address up to the method's name. */
  constructor(url: string, connections: number) {
    this.#url = url
    this.#connections = connections
  }

  /** Everything up to here has come. */
  get last(): number {
    const ids = [...this.delivered.keys()].sort((a, b) => a - b)
    const gap = ids.findIndex((id, index) => id !== (ids[0] ?? 0) + index)
    return (gap < 0 ? ids.at(-1) : ids[gap - 1]) ?? 0
  }

  start(): void {
    this.#server.listen(0, '127.0.0.1', () => void this.#hook())
  }

  /** The service keeps its place; there is nothing to forget. */
  forget(): void {}

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #hook() {
    const { port } = this.#server.address() as AddressInfo
    const url = encodeURIComponent(`http://127.0.0.1:${port}/`)
    const query = `url=${url}&max_connections=${this.#connections}`
    while (!this.#stopping.signal.aborted) {
      const answer = await fetch(`${this.#url}/setWebhook?${query}`).catch(() => undefined)
      if (answer?.ok) return
      await pause(AGAIN_MS)
    }
  }

  async #take(request: IncomingMessage, response: ServerResponse) {
    this.#open++
    response.once('close', () => this.#open--)
    if (this.#open > this.#connections) this.violations.push(`${this.#open} came at once`)
    // Killed in the middle of a request.
    const body = await request.toArray().catch(() => undefined)
    if (!body) return
    await pause(Math.random() * WORK_MS)
    if (!response.destroyed) this.#note(JSON.parse(Buffer.concat(body).toString()))
    response.end()
  }

  #note({ update_id, message }: { update_id: number; message: ReturnType<typeof JSON.parse> }) {
    const { text, message_id: messageId, chat } = message
    if (this.delivered.has(update_id)) {
      this.duplicates++
      return
    }
    this.delivered.set(update_id, { text, messageId, chatId: chat.id })
    const [name = '', place] = text.split(':')
    const before = this.#chats.get(name) ?? 0
    if (Number(place) !== before + 1) this.violations.push(`${text} came after ${name}:${before}`)
    this.#chats.set(name, Number(place))
  }
}
