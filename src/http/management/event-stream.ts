/** Server-sent events on one answer: what is told before it begins is not lost; it ends with the service or the sign-in. */
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { failed } from '../../../machines/model/failure.ts'
import { Failed } from '../envelope.ts'
import { securityHeaders } from '../headers.ts'

const HEARTBEAT_MS = 15_000
/** Whether the reader is still signed in is known for so long anyway: asking more often learns nothing. */
const STANDING_MS = 5_000

/** What waits for a reader who takes nothing; one who comes back is told the state anew. */
const MOST_WAITING_BYTES = 262_144
const RETRY_SECONDS = 10

/** The `response` schema of a route that answers with a stream. */
export const streamAnswers = {
  200: {
    description: 'The stream, which does not end',
    content: { 'text/event-stream': { schema: Type.String() } },
  },
  default: Failed,
}

/** The streams that users hold: each costs a connection and a place among those that are told of every change. */
export class EventStreams {
  readonly #perUser: number
  readonly #open = new Map<number, number>()

  constructor(perUser: number) {
    this.#perUser = perUser
  }

  /** Rejects when the user has as many as there may be. It counts until it has ended. */
  open(userId: number): EventStream {
    const open = this.#open.get(userId) ?? 0
    if (open >= this.#perUser) {
      throw failed('rate_limited', '', { retryAfterSeconds: RETRY_SECONDS })
    }
    this.#open.set(userId, open + 1)
    const stream = new EventStream()
    stream.ended.then(() => this.#close(userId))
    return stream
  }

  #close(userId: number): void {
    const left = (this.#open.get(userId) ?? 1) - 1
    if (left > 0) this.#open.set(userId, left)
    else this.#open.delete(userId)
  }
}

class EventStream {
  readonly #early: string[] = []
  readonly #ended = Promise.withResolvers<void>()
  #write: (text: string) => void = (text) => this.#early.push(text)

  /** Resolves when the reader left or was signed out, or the service goes down. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  tell(event: string, data: object): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** It never began. */
  abandon(): void {
    this.#ended.resolve()
  }

  /** The state comes first, then what was told while it was read. */
  begin(reply: FastifyReply, state: object, draining: AbortSignal): void {
    reply.hijack()
    const { raw, request } = reply
    raw.writeHead(200, {
      ...securityHeaders,
      'content-type': 'text/event-stream; charset=utf-8',
      'x-request-id': request.id,
      'x-accel-buffering': 'no',
    })
    this.#write = (text) => {
      raw.write(text)
      if (raw.writableLength > MOST_WAITING_BYTES) raw.destroy()
    }
    this.tell('state', state)
    for (const text of this.#early) this.#write(text)
    const heartbeat = setInterval(() => this.#write(': still here\n\n'), HEARTBEAT_MS)
    const { user } = request
    const standing = setInterval(async () => {
      // Where it cannot be learnt, the reader may come back and be asked again.
      const stands = await user.stands().catch(() => false)
      if (!stands) end()
    }, STANDING_MS)
    const end = () => {
      clearInterval(heartbeat)
      clearInterval(standing)
      draining.removeEventListener('abort', end)
      this.#write = () => undefined
      raw.end()
      this.#ended.resolve()
    }
    raw.once('close', end)
    draining.addEventListener('abort', end, { once: true })
    // Asked for the headers alone, there is nothing to wait for.
    if (raw.req.method === 'HEAD') end()
  }
}
