/** A connection that sends exactly the bytes it is given and reads the answers: no client would send most of them. */
import { connect, type Socket } from 'node:net'

export interface Reply {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const NEXT = Buffer.from('GET /health/live HTTP/1.1\r\nhost: chapar.test\r\n\r\n')
const CLOSED = 'closed without an answer'
const END_OF_HEAD = '\r\n\r\n'

/** One request at a time, on a connection that is opened again whenever the server closed it. */
export class Wire {
  readonly #port: number
  #socket: Socket | undefined

  constructor(port: number) {
    this.#port = port
  }

  /**
   * Rejects when no whole answer arrives in time. A stream of events ends with its head. What came before may have
   * lied about its length and eat the beginning of this: only a connection of its own shows who is to blame.
   */
  async send(bytes: Buffer, isHead: boolean, withinMs: number): Promise<Reply> {
    if (!this.#socket) return this.#sendOn(this.#open(), bytes, isHead, withinMs)
    try {
      return await this.#sendOn(this.#socket, bytes, isHead, withinMs)
    } catch {
      return this.#sendOn(this.#open(), bytes, isHead, withinMs)
    }
  }

  /** Whether the next request on this connection is served; a connection that has ended instead will do. */
  async servesNext(withinMs: number): Promise<boolean> {
    const socket = this.#socket
    if (!socket) return true
    try {
      return (await this.#sendOn(socket, NEXT, false, withinMs)).status === 200
    } catch (cause) {
      return cause instanceof Error && cause.message === CLOSED
    }
  }

  async #sendOn(socket: Socket, bytes: Buffer, isHead: boolean, withinMs: number): Promise<Reply> {
    const reply = await new Promise<Reply>((resolve, reject) => {
      const received = new Received()
      const look = (chunk: Buffer) => {
        const whole = received.add(chunk)
        const reply = whole && replyIn(whole, isHead)
        if (reply) settle(() => resolve(reply))
      }
      const fail = (why: string) => () => settle(() => reject(new Error(why)))
      const [closed, late] = [fail(CLOSED), fail('no answer in time')]
      const settle = (outcome: () => void) => {
        clearTimeout(timer)
        socket.off('data', look).off('close', closed)
        outcome()
      }
      const timer = setTimeout(late, withinMs)
      socket.on('data', look).once('close', closed)
      socket.write(bytes)
    }).catch((cause) => {
      this.close()
      throw cause
    })
    const isOver = reply.headers.get('connection') === 'close'
    if (isOver || isStream(reply.headers)) this.close()
    return reply
  }

  #open(): Socket {
    const socket = connect(this.#port, '127.0.0.1').setNoDelay()
    // What is wrong with the connection shows as its end.
    socket.on('error', () => undefined)
    // A server may close a connection between two requests.
    socket.once('close', () => {
      if (this.#socket === socket) this.#socket = undefined
    })
    this.#socket = socket
    return socket
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }
}

/** An answer as it arrives. Looking at a long one after each part would take longer than the service needs for it. */
class Received {
  #chunks: Buffer[] = []
  #bytes = 0
  #tail = ''

  /** All of it so far, if that may be the whole answer. */
  add(chunk: Buffer): Buffer | undefined {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    this.#tail = (this.#tail + chunk.subarray(-5).toString('latin1')).slice(-5)
    if (this.#bytes > 1_000_000 && this.#isChunked && this.#tail !== '0\r\n\r\n') return undefined
    const whole = Buffer.concat(this.#chunks)
    this.#chunks = [whole]
    return whole
  }

  get #isChunked(): boolean {
    const head = this.#chunks[0]?.subarray(0, 4_096).toString('latin1') ?? ''
    return /^transfer-encoding: chunked\r$/im.test(head)
  }
}

function replyIn(received: Buffer, isHead: boolean): Reply | undefined {
  const end = received.indexOf(END_OF_HEAD)
  if (end < 0) return undefined
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(first.split(' ')[1])
  const rest = received.subarray(end + END_OF_HEAD.length)
  if (status < 200) return replyIn(rest, isHead)
  const headers = new Map(lines.map(parsedHeader))
  const reply = (body: Buffer) => ({ status, headers, body: body.toString() })
  const hasNoBody = isHead || status === 204 || status === 304
  if (hasNoBody || isStream(headers)) return reply(rest)
  if (headers.get('transfer-encoding') === 'chunked') {
    const whole = unchunked(rest)
    return whole && reply(whole)
  }
  const length = Number(headers.get('content-length') ?? 0)
  return rest.length < length ? undefined : reply(rest.subarray(0, length))
}

const isStream = (headers: Reply['headers']) =>
  headers.get('content-type')?.startsWith('text/event-stream') === true

function parsedHeader(line: string): [string, string] {
  const at = line.indexOf(':')
  return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
}

function unchunked(rest: Buffer): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const end = rest.indexOf('\r\n', at)
    if (end < 0) return undefined
    const size = Number.parseInt(rest.toString('latin1', at, end), 16)
    if (rest.length < end + size + 4) return undefined
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(rest.subarray(end + 2, end + 2 + size))
    at = end + size + 4
  }
}
