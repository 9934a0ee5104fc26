/** Counts the stanzas to acknowledge to the server (XEP-0198): all that are handled, from the first one without a gap. */
import { type Client, type Element, xml } from '@xmpp/client'
import { ns } from './namespaces.ts'

const counted: ReadonlySet<string> = new Set(['iq', 'message', 'presence'])

export class Acknowledgements {
  readonly #client: Client
  /** Stanzas handled out of order, beyond `#handled`. */
  #ahead: Set<number> | undefined
  #received: number
  #handled: number
  /** The last answer to the server was smaller than the number of received stanzas. */
  #isOwed = false
  #stream = 0

  /** `received`: the number of stanzas received on the stream to resume. */
  constructor(client: Client, received: number) {
    this.#client = client
    this.#received = received
    this.#handled = received
    this.#tell()
    client.prependListener('element', (element: Element) => {
      this.#hear(element)
      this.#tell()
    })
    // The library counts, too, and begins a moment after the server, so it misses stanzas that arrive in one packet with
    // `enabled`. The server ends a stream whose count is wrong.
    client.on('element', () => this.#tell())
  }

  get received(): number {
    return this.#received
  }

  /** How many are handled; undefined while one of them waits and a later one does not. */
  get handled(): number | undefined {
    return this.#ahead?.size ? undefined : this.#handled
  }

  /** Returns a function to call when the newest stanza is handled. */
  expect(): () => void {
    const number = this.#received
    const stream = this.#stream
    return () => stream === this.#stream && this.#done(number)
  }

  #hear(element: Element) {
    if (element.is('enabled', ns.streamManagement)) {
      this.#stream += 1
      this.#received = 0
      this.#handled = 0
      this.#ahead = undefined
    } else if (counted.has(element.name)) {
      this.#received += 1
    } else if (element.is('r', ns.streamManagement)) {
      this.#isOwed = this.#handled < this.#received
    }
  }

  #done(number: number) {
    if (number <= this.#handled) return
    if (number > this.#handled + 1) {
      this.#ahead ??= new Set()
      this.#ahead.add(number)
      return
    }
    this.#handled = number
    while (this.#ahead?.delete(this.#handled + 1)) this.#handled += 1
    this.#tell()
    if (this.#isOwed && this.#handled === this.#received) this.#answer()
  }

  /** The library answers the server with this number, and resumes the stream from it. */
  #tell() {
    this.#client.streamManagement.inbound = this.#handled
  }

  /** Corrects an answer of the library that came too early. */
  #answer() {
    this.#isOwed = false
    const { streamManagement } = this.#client
    if (!streamManagement.enabled) return
    // A broken stream needs no answer: the number is part of its resumption.
    this.#client
      .send(xml('a', { xmlns: ns.streamManagement, h: this.#handled }))
      .catch(() => undefined)
  }
}
