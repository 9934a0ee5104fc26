/** A bot's endpoint in the hands of its test: it notes what it is sent, and answers as it is told. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { checkUpdate } from '../support/reference-check.ts'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

type Value = ReturnType<typeof JSON.parse>

export interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly update: Value
  readonly at: number
}

export type Answering = (received: Received, response: ServerResponse) => unknown

export class Receiver {
  readonly received: Received[] = []
  /** Connections that were opened. */
  connections = 0
  /** Those of them that are still open. */
  kept = 0
  /** Requests that wait for their answer, and the most there were at once. */
  open = 0
  mostOpen = 0
  answer: Answering
  readonly #server: ReturnType<typeof createServer>
  readonly #scheme: string
  #changed = Promise.withResolvers<void>()

  private constructor(answer: Answering, tls: ServerOptions | undefined) {
    this.answer = answer
    this.#scheme = tls ? 'https' : 'http'
    const handle = (request: IncomingMessage, response: ServerResponse) =>
      void this.#handle(request, response)
    this.#server = tls ? createTlsServer(tls, handle) : createServer(handle)
    this.#server.on('connection', (socket: Socket) => {
      this.connections++
      this.kept++
      socket.once('close', () => this.kept--)
    })
  }

  static async open(
    t: Testing,
    answer: Answering = (_, response) => response.end(),
    tls?: ServerOptions,
  ): Promise<Receiver> {
    const receiver = new Receiver(answer, tls)
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    t.teardown(() => receiver.close())
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}/hook`
  }

  /** Resolves once so many requests have come. */
  async count(wanted: number, withinMs = 15_000): Promise<Received[]> {
    const end = AbortSignal.timeout(withinMs)
    const late = once(end, 'abort')
    while (this.received.length < wanted) {
      await Promise.race([this.#changed.promise, late])
      if (end.aborted) throw new Error(`${this.received.length} came, not ${wanted}`)
    }
    return this.received
  }

  /** What came, by the texts of the messages. */
  get texts(): string[] {
    return this.received.map(({ update }) => update.message?.text)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    if (this.#server.listening) {
      this.#server.close()
      await once(this.#server, 'close')
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse) {
    this.mostOpen = Math.max(this.mostOpen, ++this.open)
    response.once('close', () => this.open--)
    const text = Buffer.concat(await request.toArray()).toString()
    const received = {
      path: request.url ?? '',
      headers: request.headers,
      text,
      update: JSON.parse(text),
      at: Date.now(),
    }
    this.received.push(received)
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
    await this.answer(received, response)
    checkUpdate(received.update)
  }
}

/** Answers in this order, then well. */
export function answers(...statuses: readonly number[]): Answering {
  const left = [...statuses]
  return (_, response) => {
    response.statusCode = left.shift() ?? 200
    response.end()
  }
}
