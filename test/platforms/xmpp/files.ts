/** The files of the XMPP tests: those that wait in the gateway's store, and those that others have on a server. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { Readable } from 'node:stream'
import type { Media, MediaKind } from '../../../machines/model/media.ts'
import type { OpenBlob } from '../../../src/media/media.ts'

interface Stored {
  readonly bytes: Buffer
  readonly mime: string
}

const types: Readonly<Partial<Record<MediaKind, string>>> = {
  photo: 'image/jpeg',
  video: 'video/mp4',
  animation: 'image/gif',
  audio: 'audio/mpeg',
  voice: 'audio/ogg',
}

export class Files {
  readonly #stored = new Map<string, Stored>()
  /** How often a blob was opened. */
  opened = 0
  /** Blobs that break off when they are read. */
  readonly breaks = new Set<string>()
  #server: Promise<Server> | undefined

  /** Waits in the store, ready to be sent. */
  async add(
    kind: MediaKind,
    bytes: Buffer = Buffer.from(`${kind} ${randomUUID()}`),
  ): Promise<Media> {
    const blob = randomUUID()
    const mime = types[kind] ?? 'application/octet-stream'
    this.#stored.set(blob, { bytes, mime })
    return { kind, file: { blob }, size: bytes.length, mime, name: `${kind} ☕.bin` }
  }

  async facts(blob: string) {
    const { bytes, mime } = this.#find(blob)
    return { size: bytes.length, mime }
  }

  async open(blob: string): Promise<OpenBlob> {
    this.opened += 1
    const { bytes } = this.#find(blob)
    const stream = Readable.from(this.breaks.has(blob) ? broken(bytes) : bytes)
    return { ...(await this.facts(blob)), stream }
  }

  /** A link under which anybody gets it, from any place in it. */
  async link(blob: string): Promise<string> {
    this.#server ??= this.#serve()
    const address = (await this.#server).address()
    const port = typeof address === 'object' ? address?.port : undefined
    return `http://127.0.0.1:${port}/${blob}`
  }

  async stop(): Promise<void> {
    const server = await this.#server
    server?.close()
    server?.closeAllConnections()
  }

  #find(blob: string): Stored {
    const stored = this.#stored.get(blob)
    if (!stored) throw new Error(`there is no blob ${blob}`)
    return stored
  }

  async #serve(): Promise<Server> {
    const server = createServer((request, response) => {
      const { bytes, mime } = this.#find(request.url?.slice(1) ?? '')
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
      if (from > 0 && from >= bytes.length) return response.writeHead(416).end()
      const rest = bytes.subarray(from)
      const headers = { 'content-length': rest.length, 'content-type': mime }
      response.writeHead(from > 0 ? 206 : 200, headers).end(rest)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return server
  }
}

function* broken(bytes: Buffer) {
  yield bytes.subarray(0, bytes.length / 2)
  throw new Error('the stored bytes are damaged')
}
