/** Somebody who writes numbered messages to an account or a room, and remembers which of them have to arrive. */
import type { SlixmppClient } from '../support/slixmpp.ts'

export class XmppWriter {
  readonly #client: SlixmppClient
  readonly #to: string
  readonly isToRoom: boolean
  readonly #perSecond: number
  #timer: NodeJS.Timeout | undefined
  #written = 0
  /** An account that was never online has no history to catch up with. */
  #counted = 0

  /** `to`: an account, or a room that the client is in. */
  constructor(client: SlixmppClient, to: string, perSecond: number, isToRoom = false) {
    this.#client = client
    this.#to = to
    this.isToRoom = isToRoom
    this.#perSecond = perSecond
  }

  get #name() {
    const [name] = this.#client.jid.split('@')
    return this.isToRoom ? `${name} in the room` : name
  }

  /** Whether this is something that this writer wrote to this account or room. */
  wrote(text: string): boolean {
    return text.startsWith(`${this.#name}:`)
  }

  write() {
    const next = () => this.#client.send(this.#to, this.#text(++this.#written))
    this.#timer = setInterval(next, 1000 / this.#perSecond)
  }

  stop() {
    clearInterval(this.#timer)
  }

  /** What is written from now on has to arrive. */
  count() {
    this.#counted = this.#written
  }

  /** What has to be among the delivered. */
  get texts(): string[] {
    const length = this.#written - this.#counted
    return Array.from({ length }, (_, index) => this.#text(this.#counted + index + 1))
  }

  get newest(): string {
    return this.#text(this.#written)
  }

  #text(place: number): string {
    return `${this.#name}:${place}`
  }
}
