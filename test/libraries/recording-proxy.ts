/** Stands between a library and the service: holds what passes against the reference's shapes, and counts it. */
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
import { Passages } from './passages.ts'

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  deflate: inflateSync,
}
const keptDepartures = 5

/** Reads an exchange along. */
interface Witness {
  /** Called with the answer; false: it is to be lost on its way. */
  answered(answer: IncomingMessage): boolean
}

/** Called with each request. */
type Watcher = (asked: IncomingMessage, body: Gathered) => Witness

export class RecordingProxy {
  readonly passages = new Passages()
  readonly #servers: Server[] = []
  readonly #departures = new Set<string>()
  #answers = 0
  #updates = 0

  /** Passes a library's calls on to the service; resolves with the address for the library. */
  inFrontOfService(url: string): Promise<string> {
    const { passages } = this
    return this.#listen(url, ({ url: path = '/' }, body) => {
      const isCall = path.startsWith('/bot')
      const sending = body.whole.then((isWhole) =>
        isCall && isWhole ? passages.asked(path, body.text()) : undefined,
      )
      return {
        answered: (answer) => {
          const answered = new Gathered(answer)
          // The service answers when it has the whole call.
          if (isCall && passages.loses(path, body.text())) return false
          void Promise.all([sending, answered.whole]).then(([sent, isWhole]) => {
            if (!isCall || !isWhole) return
            if (sent) sent.isTold = answer.statusCode === 200
            this.#hold(() => this.#takeAnswer(path, answered))
          })
          return true
        },
      }
    })
  }

  /** Passes webhook requests on to the library at this address; resolves with the address for the service. */
  inFrontOfWebhook(url: string): Promise<string> {
    return this.#listen(url, (_, body) => ({
      answered: ({ statusCode = 0 }) => {
        void body.whole.then((isWhole) => {
          if (isWhole) this.#hold(() => this.#takeUpdate(body, statusCode < 300))
        })
        return true
      },
    }))
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

  #takeAnswer(path: string, body: Gathered) {
    const answer = JSON.parse(body.text())
    this.#answers++
    if (answer.ok && /\/getUpdates\b/i.test(path)) {
      this.#updates += answer.result.length
      this.passages.polled(answer.result)
    }
    checkAnswer(path, answer)
  }

  #takeUpdate(body: Gathered, isAccepted: boolean) {
    const update = JSON.parse(body.text())
    this.#updates++
    if (isAccepted) this.passages.accepted(update)
    checkUpdate(update)
  }

  #hold(take: () => void) {
    try {
      take()
    } catch (error) {
      this.#departures.add(error instanceof Error ? error.message : String(error))
    }
  }

  async #listen(target: string, watch: Watcher): Promise<string> {
    const server = createServer((asked, answer) => pass(target, asked, answer, watch))
    // Longer than clients keep an idle connection: a library must not meet one that is being closed.
    server.keepAliveTimeout = 120_000
    this.#servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }
}

/** Both bodies are streamed. Whichever side breaks off is told to the other in the same way. */
function pass(target: string, asked: IncomingMessage, answer: ServerResponse, watch: Watcher) {
  const { method, rawHeaders, url = '/' } = asked
  const body = new Gathered(asked)
  const witness = watch(asked, body)
  const onward = request(new URL(url, target), { method, headers: rawHeaders, agent: false })
  const breakOff = () => answer.destroy()
  onward.on('error', () => {
    // What the library wanted is seen although nobody takes it.
    void body.whole.then(breakOff)
    asked.resume()
  })
  onward.on('response', (answered) => {
    answered.on('error', breakOff)
    if (witness.answered(answered)) {
      answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders)
      answered.pipe(answer)
    } else {
      answered.on('end', breakOff)
    }
  })
  answer.on('close', () => onward.destroy())
  asked.pipe(onward)
}

/** The body of a message that others read, too. */
class Gathered {
  readonly #message: IncomingMessage
  readonly #chunks: Buffer[] = []
  /** Whether it came to its end. */
  readonly whole: Promise<boolean>

  constructor(message: IncomingMessage) {
    this.#message = message
    message.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
    this.whole = new Promise<boolean>((resolve) => {
      message.on('end', () => resolve(true))
      message.on('close', () => resolve(message.complete))
    })
  }

  /** What has come of it. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks)
    const decode = decoders[this.#message.headers['content-encoding'] ?? '']
    return (decode ? decode(bytes) : bytes).toString()
  }
}
