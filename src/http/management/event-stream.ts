/** Server-sent events on one answer: what is told before it begins is not lost; it ends with the service or the sign-in. */
import type { FastifyReply } from 'fastify'
import { securityHeaders } from '../headers.ts'

const HEARTBEAT_MS = 15_000
/** Whether the reader is still signed in is known for so long anyway: asking more often learns nothing. */
const STANDING_MS = 5_000

export class EventStream {
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
    this.#write = (text) => raw.write(text)
    this.tell('state', state)
    for (const text of this.#early) raw.write(text)
    const heartbeat = setInterval(() => raw.write(': still here\n\n'), HEARTBEAT_MS)
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
