/** One keep-alive connection that costs the load generator as little as possible: bytes out, an answer in. */
import { connect, type Socket } from 'node:net'
import { now } from './statistics.ts'

const HEAD_END = Buffer.from('\r\n\r\n')

export class Connection {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #waiting: PromiseWithResolvers<Buffer> | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay()
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', (cause) => this.#waiting?.reject(cause))
    socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')))
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Connection(socket)))
      socket.once('error', reject)
    })
  }

  /** The body of the answer, which has to be a success. One request at a time. */
  request(request: string | Buffer): Promise<Buffer> {
    // The server closes a connection that nobody uses, and a write to it says nothing.
    if (this.#socket.destroyed) return Promise.reject(new Error('the connection was closed'))
    this.#waiting = Promise.withResolvers()
    this.#socket.write(request)
    return this.#waiting.promise
  }

  close(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #take(chunk: Buffer) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const end = this.#received.indexOf(HEAD_END)
    if (end < 0) return
    const head = this.#received.toString('latin1', 0, end)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
    const body = this.#received.subarray(end + 4)
    if (body.length < length) return
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#received = Buffer.alloc(0)
    if (head.startsWith('HTTP/1.1 200')) waiting?.resolve(body)
    else waiting?.reject(new Error(`${head}\n\n${body}`))
  }
}

export const get = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nhost: bench\r\n${headers}\r\n`

export const post = (path: string, body: unknown): string => {
  const text = JSON.stringify(body)
  const length = Buffer.byteLength(text)
  return `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${text}`
}

/** The service closes a connection after a thousand requests. */
export const REQUESTS = 900

/** Every connection asks again as soon as it is answered; resolves with the milliseconds of each answer. */
export async function load(
  port: number,
  requests: readonly Buffer[],
  forMs: number,
): Promise<number[]> {
  const delays: number[] = []
  const until = now() + forMs
  const ask = async (request: Buffer) => {
    let connection = await Connection.open(port)
    for (let [asked, began] = [1, now()]; began < until; asked++) {
      await connection.request(request)
      const ended = now()
      if (ended <= until) delays.push(ended - began)
      if (asked % REQUESTS === 0) {
        connection.close()
        connection = await Connection.open(port)
      }
      began = now()
    }
    connection.close()
  }
  await Promise.all(requests.map(ask))
  return delays
}

/** Each connection sends its requests once, one after another; resolves with the milliseconds of each answer. */
export async function sendAll(
  port: number,
  lists: readonly (readonly Buffer[])[],
): Promise<number[]> {
  const delays: number[] = []
  const ask = async (requests: readonly Buffer[]) => {
    const connection = await Connection.open(port)
    for (const request of requests) {
      const began = now()
      await connection.request(request)
      delays.push(now() - began)
    }
    connection.close()
  }
  await Promise.all(lists.map(ask))
  return delays
}
