/** A balancer as operators put one before the nodes: it asks each whether it is ready, and tries another one where it cannot connect. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const ASK_EVERY_MS = 250
const ANSWER_WITHIN_MS = 1_000

/** An answer that no caller should have got. */
export interface FailedCall {
  readonly at: number
  /** The node that gave it; absent: the balancer itself. */
  readonly node: string | undefined
  readonly call: string
  readonly status: number
  readonly description: string
}

interface Back {
  readonly name: string
  readonly url: string
  isReady: boolean
}

/** Without the secret. */
const callOf = ({ method, url = '' }: IncomingMessage) =>
  `${method} ${url.replace(/\?.*/, '').replace(/\/bot\d+:[^/]+/, '/bot…')}`

export class Balancer {
  readonly failed: FailedCall[] = []
  /** Calls whose connection was lost under them, after the node had taken it. */
  cut = 0
  calls = 0
  readonly #nodes: readonly Back[]
  readonly #server = createServer((from, to) => void this.#take(from, to))
  readonly #timer: NodeJS.Timeout
  #turn = 0

  constructor(nodes: readonly Pick<Back, 'name' | 'url'>[]) {
    this.#nodes = nodes.map(({ name, url }) => ({ name, url, isReady: false }))
    this.#timer = setInterval(() => {
      for (const node of this.#nodes) void this.#ask(node)
    }, ASK_EVERY_MS)
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  get ready(): number {
    return this.#nodes.filter(({ isReady }) => isReady).length
  }

  close(): void {
    clearInterval(this.#timer)
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #ask(node: Back): Promise<void> {
    try {
      const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
      node.isReady = (await fetch(`${node.url}/health/ready`, { signal })).ok
    } catch {
      node.isReady = false
    }
  }

  async #take(from: IncomingMessage, to: ServerResponse): Promise<void> {
    this.calls++
    const chunks: Buffer[] = []
    try {
      for await (const chunk of from) chunks.push(chunk)
    } catch {
      return
    }
    const ready = this.#nodes.filter(({ isReady }) => isReady)
    const first = this.#turn++
    for (let tries = 0; tries < ready.length; tries++) {
      const node = ready[(first + tries) % ready.length]
      if (!node || (await this.#pass(node, from, Buffer.concat(chunks), to))) return
      node.isReady = false
    }
    this.#note(from, undefined, 503, 'no node is ready')
    to.writeHead(503).end()
  }

  /** False where the node could not be reached, so that another one may be asked. */
  #pass(node: Back, from: IncomingMessage, body: Buffer, to: ServerResponse): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const { hostname, port } = new URL(node.url)
    const { method, url: path, headers } = from
    const passed = request({ hostname, port, method, path, headers }, (answer) => {
      resolve(true)
      const said: Buffer[] = []
      answer.on('data', (chunk) => said.push(chunk))
      answer.on('end', () => this.#judge(from, node.name, answer.statusCode ?? 0, said))
      answer.on('error', () => this.#lose(to))
      to.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(to)
    })
    passed.on('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ECONNREFUSED') return resolve(false)
      resolve(true)
      this.#lose(to)
    })
    to.once('close', () => {
      resolve(true)
      passed.destroy()
    })
    passed.end(body)
    return promise
  }

  #lose(to: ServerResponse): void {
    // A client that has left loses nothing.
    if (!to.destroyed) this.cut++
    to.destroy()
  }

  #judge(from: IncomingMessage, node: string, status: number, said: readonly Buffer[]): void {
    if (status >= 400) this.#note(from, node, status, Buffer.concat(said).toString().slice(0, 200))
  }

  #note(
    from: IncomingMessage,
    node: string | undefined,
    status: number,
    description: string,
  ): void {
    this.failed.push({ at: Date.now(), node, call: callOf(from), status, description })
  }
}
