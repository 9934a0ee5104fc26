/** A signal that aborts when the client closes its connection before the answer was written. */
import type { FastifyReply } from 'fastify'

/** Fastify's own `request.signal` also aborts once a body was read to its end. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  if (raw.destroyed) return AbortSignal.abort()
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
