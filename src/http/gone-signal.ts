/** The end of a response, and a signal that aborts when the client closes its connection before the answer was written. */
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/** Calls back when the response has closed; at once if it has, since nothing tells of that any more. */
export function onClosed(response: ServerResponse, listener: () => void): void {
  if (response.destroyed) listener()
  else response.once('close', listener)
}

/** Fastify's own `request.signal` also aborts once a body was read to its end. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  onClosed(raw, () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
