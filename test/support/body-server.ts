/** A file server on loopback that sends bodies as badly as it is asked to, one shape to a path. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'

export const content = randomBytes(200_000)
const PIECE = 16_384

type Shape = (socket: Socket, signal: AbortSignal) => Promise<void> | void

const head = (...lines: string[]) =>
  ['HTTP/1.1 200 OK', 'content-type: image/jpeg', ...lines, '', ''].join('\r\n')
const whole = `content-length: ${content.length}`
const chunk = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

async function inPieces(socket: Socket, until: number, wrap = (bytes: Buffer) => bytes) {
  for (let at = 0; at < until && !socket.destroyed; at += PIECE) {
    socket.write(wrap(content.subarray(at, Math.min(at + PIECE, until))))
    await pause(1)
  }
}

const shapes = {
  'at once': (socket) => void socket.write(Buffer.concat([Buffer.from(head(whole)), content])),
  'in pieces': async (socket) => {
    socket.write(head(whole))
    await inPieces(socket, content.length)
  },
  'in pieces without a length': async (socket) => {
    socket.write(head('transfer-encoding: chunked'))
    await inPieces(socket, content.length, chunk)
    socket.write('0\r\n\r\n')
  },
  'breaks off': async (socket) => {
    socket.write(head(whole))
    await inPieces(socket, content.length / 2)
    socket.destroy()
  },
  'breaks off without a length': async (socket) => {
    socket.write(head('transfer-encoding: chunked'))
    await inPieces(socket, content.length / 2, chunk)
    socket.destroy()
  },
  'never ends': async (socket) => {
    socket.write(head('transfer-encoding: chunked'))
    await inPieces(socket, content.length / 2, chunk)
  },
  'goes on for ever': async (socket, signal) => {
    socket.write(head('transfer-encoding: chunked'))
    while (!signal.aborted && !socket.destroyed) {
      await inPieces(socket, content.length, chunk)
    }
  },
  'exceeds its length': (socket) =>
    void socket.write(Buffer.concat([Buffer.from(head('content-length: 1000')), content])),
} satisfies Record<string, Shape>

export type ShapeName = keyof typeof shapes

const calls: Readonly<Record<string, unknown>> = {
  getMe: { id: 123456, is_bot: true, first_name: 'Bot', username: 'a_bot' },
  getWebhookInfo: { url: '' },
}

export class BodyServer {
  readonly #server: Server
  readonly #over = new AbortController()
  readonly sockets = new Set<Socket>()
  /** The path of a file that is sent so. */
  static path = (shape: ShapeName) => shape.replaceAll(' ', '-')

  private constructor() {
    this.#server = createServer((socket) => {
      this.sockets.add(socket)
      socket.on('close', () => this.sockets.delete(socket))
      // A reader that leaves resets the connection.
      socket.on('error', () => socket.destroy())
      let asked = ''
      socket.on('data', (bytes) => {
        asked += bytes.toString('latin1')
        if (!asked.includes('\r\n\r\n')) return
        const path = /^\w+ (\S+)/.exec(asked)?.[1] ?? ''
        asked = ''
        this.#answer(path, socket)
      })
    })
  }

  static async start(t: Pick<Test, 'teardown'>): Promise<BodyServer> {
    const server = new BodyServer()
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    t.teardown(() => server.#stop())
    return server
  }

  get url(): string {
    const address = this.#server.address()
    if (typeof address !== 'object' || !address) throw new Error('it does not listen')
    return `http://127.0.0.1:${address.port}`
  }

  #answer(path: string, socket: Socket): void {
    const name =
      path
        .split('/')
        .at(-1)
        ?.replace(/\.\w+$/, '')
        .replaceAll('-', ' ') ?? ''
    const shape = (shapes as Record<string, Shape>)[name]
    if (shape) void shape(socket, this.#over.signal)
    else this.#answerCall(name, socket)
  }

  /** What a bot API says, so that a token can be linked. */
  #answerCall(method: string, socket: Socket): void {
    if (method === 'getUpdates') return
    const result = calls[method] ?? { file_path: this.nextPath }
    const body = JSON.stringify({ ok: true, result })
    const lines = `content-type: application/json\r\ncontent-length: ${body.length}`
    socket.end(`HTTP/1.1 200 OK\r\n${lines}\r\nconnection: close\r\n\r\n${body}`)
  }

  /** Of the file that the next call of getFile is about. */
  nextPath = ''

  #stop(): void {
    this.#over.abort()
    for (const socket of this.sockets) socket.destroy()
    this.#server.close()
  }
}
