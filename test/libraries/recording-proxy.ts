/** Stands between a library and the service, and holds what passes against the reference's shapes. */
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { checkAnswer, checkUpdate } from '../support/reference-check.ts'

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  deflate: inflateSync,
}
const keptDepartures = 5

/** Reads along. */
interface Watcher {
  asked?(request: IncomingMessage): void
  answered?(path: string, answer: IncomingMessage): void
}

export class RecordingProxy {
  readonly #servers: Server[] = []
  readonly #departures = new Set<string>()
  #answers = 0
  #updates = 0

  /** Passes a library's calls on to the service; resolves with the address for the library. */
  inFrontOfService(url: string): Promise<string> {
    const answered = (path: string, answer: IncomingMessage) => {
      if (!path.startsWith('/bot')) return
      void bodyOf(answer).then((body) => this.#hold(() => this.#takeAnswer(path, body)))
    }
    return this.#listen(url, { answered })
  }

  /** Passes webhook requests on to the library at this address; resolves with the address for the service. */
  inFrontOfWebhook(url: string): Promise<string> {
    const asked = (update: IncomingMessage) => {
      void bodyOf(update).then((body) => this.#hold(() => this.#takeUpdate(body)))
    }
    return this.#listen(url, { asked })
  }

  /** Throws when something had another shape, or when nothing passed that could be judged. */
  judge(wantsUpdates: boolean): void {
    if (this.#departures.size > 0) {
      throw new Error([...this.#departures].slice(0, keptDepartures).join('\n'))
    }
    if (this.#answers === 0) throw new Error('no answer passed')
    if (wantsUpdates && this.#updates === 0) throw new Error('no update passed')
  }

  close(): void {
    for (const server of this.#servers) {
      server.close()
      server.closeAllConnections()
    }
  }

  #takeAnswer(path: string, body: Buffer | undefined) {
    if (!body) return
    const answer = JSON.parse(body.toString())
    this.#answers++
    if (answer.ok && /\/getUpdates\b/i.test(path)) this.#updates += answer.result.length
    checkAnswer(path, answer)
  }

  #takeUpdate(body: Buffer | undefined) {
    if (!body) return
    this.#updates++
    checkUpdate(JSON.parse(body.toString()))
  }

  #hold(take: () => void) {
    try {
      take()
    } catch (error) {
      this.#departures.add(error instanceof Error ? error.message : String(error))
    }
  }

  async #listen(target: string, watcher: Watcher): Promise<string> {
    const server = createServer((asked, answer) => pass(target, asked, answer, watcher))
    // Longer than clients keep an idle connection: a library must not meet one that is being closed.
    server.keepAliveTimeout = 120_000
    this.#servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }
}

/** Both bodies are streamed. Whichever side breaks off is told to the other in the same way. */
function pass(target: string, asked: IncomingMessage, answer: ServerResponse, watcher: Watcher) {
  const { method, rawHeaders, url = '/' } = asked
  watcher.asked?.(asked)
  const onward = request(new URL(url, target), { method, headers: rawHeaders, agent: false })
  const breakOff = () => answer.destroy()
  onward.on('error', breakOff)
  onward.on('response', (answered) => {
    watcher.answered?.(url, answered)
    answered.on('error', breakOff)
    answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders)
    answered.pipe(answer)
  })
  answer.on('close', () => onward.destroy())
  asked.pipe(onward)
}

/** Resolves with nothing when the message breaks off. */
async function bodyOf(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  message.on('data', (chunk: Buffer) => chunks.push(chunk))
  const isWhole = await new Promise<boolean>((resolve) => {
    message.on('end', () => resolve(true))
    message.on('close', () => resolve(message.complete))
  })
  if (!isWhole) return undefined
  const bytes = Buffer.concat(chunks)
  const decode = decoders[message.headers['content-encoding'] ?? '']
  return decode ? decode(bytes) : bytes
}
