/** Server-sent events: events before the first write are not lost, and a stream ends with the service or the sign-in. */
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { failed } from '../../../machines/model/failure.ts'
import { Failed } from '../envelope.ts'
import { onClosed } from '../gone-signal.ts'
import { securityHeaders } from '../headers.ts'
import { shownTo } from '../on-behalf.ts'

const HEARTBEAT_MS = 15_000
/** How often the sign-in is checked. The result is cached for as long, so more checks would show nothing new. */
const STANDING_MS = 5_000

/** Bytes buffered for a slow reader. Beyond them the stream ends; a reader who reconnects gets the current state. */
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

/** Counts the streams of users: each takes a connection, and a listener that hears every change. */
export class EventStreams {
  readonly #perUser: number
  readonly #open = new Map<number, Set<EventStream>>()

  constructor(perUser: number) {
    this.#perUser = perUser
  }

  /** Throws if the user has too many streams. A stream counts until it has ended. */
  open(userId: number): EventStream {
    const open = this.#open.get(userId) ?? new Set()
    if (open.size >= this.#perUser) {
      throw failed('rate_limited', '', { retryAfterSeconds: RETRY_SECONDS })
    }
    const stream = new EventStream()
    this.#open.set(userId, open.add(stream))
    stream.ended.then(() => {
      open.delete(stream)
      if (open.size === 0) this.#open.delete(userId)
    })
    return stream
  }

  /** Ends those of a user who may read nothing from now on. */
  endOf(userId: number): void {
    for (const stream of this.#open.get(userId) ?? []) stream.end()
  }
}

class EventStream {
  readonly #early: string[] = []
  readonly #ended = Promise.withResolvers<void>()
  #write: (text: string) => void = (text) => this.#early.push(text)
  #end: () => void = () => undefined
  #isOver = false

  /** Resolves when the reader leaves or is signed out, or the service stops. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  tell(event: string, data: object): void {
    this.#write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Ends it, also where it only begins; a reader who reconnects gets the current state. */
  end(): void {
    this.#isOver = true
    this.#end()
  }

  /** The stream ended before it began. */
  abandon(): void {
    this.#ended.resolve()
  }

  /** Sends the state first, then the events that came while the state was read. */
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
    this.tell('state', shownTo(request.user, state))
    for (const text of this.#early) this.#write(text)
    const heartbeat = setInterval(() => this.#write(': still here\n\n'), HEARTBEAT_MS)
    const { user } = request
    const standing = setInterval(async () => {
      // If the sign-in cannot be checked, the stream ends: a reader who reconnects is checked again.
      const stands = await user.stands().catch(() => false)
      if (!stands) end()
    }, STANDING_MS)
    const unwatch = user.sharing?.watch(() => end())
    const end = () => {
      unwatch?.()
      clearInterval(heartbeat)
      clearInterval(standing)
      draining.removeEventListener('abort', end)
      this.#write = () => undefined
      raw.end()
      this.#ended.resolve()
    }
    this.#end = end
    draining.addEventListener('abort', end, { once: true })
    // The reader may have left while the state was read.
    onClosed(raw, end)
    // HEAD wants only the headers.
    if (raw.req.method === 'HEAD' || this.#isOver) end()
  }
}
