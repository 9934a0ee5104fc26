/** Clients that leave before they have their answer, or stop reading it. */
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/** Calls back when the response has closed; at once if it has already, because its event has passed. */
export function onClosed(response: ServerResponse, listener: () => void): void {
  if (response.destroyed) listener()
  else response.once('close', listener)
}

/** How long a client may read nothing while bytes wait for it. */
const STALLED_MS = 60_000

/** Closes the connection of a client that has stopped reading its answer. */
export function closeStalled(response: ServerResponse): void {
  response.setTimeout(STALLED_MS, () => response.destroy())
}

/** Fastify's own `request.signal` also aborts once a body was read to its end. */
export function goneSignal({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController()
  onClosed(raw, () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
