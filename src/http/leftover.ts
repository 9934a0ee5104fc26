/** What is left of a body once its request is answered: read away within bounds, or whoever comes next would wait for it. */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'

export interface LeftoverLimits {
  readonly leftoverBytes: number
  readonly leftoverTimeout: number
}

const LOOK_MS = 100

/**
 * A proxy sends the requests of many users over one connection. Node reads away only bodies that nobody has begun to
 * read; one that was given up half-way stays in front of the next request. The connection is closed when the rest is
 * too long: not at once, since a client that is still sending would lose the answer with it.
 */
export function drainLeftovers(app: FastifyInstance, limits: LeftoverLimits): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    if (mayHaveBody(raw)) reply.raw.once('finish', () => drain(raw, limits))
    done()
  })
  // Fastify says that the connection ends where it could not read a body: with bytes on their way, the end takes the
  // answer along.
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (!raw.complete && reply.hasHeader('connection')) reply.removeHeader('connection')
    done(null, payload)
  })
}

const mayHaveBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** `complete` alone is unknown to requests that come over no connection, as tests inject them. */
const isOver = ({ complete, readableEnded, destroyed }: IncomingMessage): boolean =>
  complete || readableEnded || destroyed

function drain(request: IncomingMessage, limits: LeftoverLimits): void {
  if (isOver(request)) return
  const { socket } = request
  const [bytesBefore, startedAt] = [socket.bytesRead, performance.now()]
  // Bodies that Node reads away show their bytes to nobody, but the connection counts them.
  const look = setInterval(() => {
    const isTooLong = socket.bytesRead - bytesBefore > limits.leftoverBytes
    const isLate = performance.now() - startedAt > limits.leftoverTimeout
    if (isOver(request) || socket.destroyed) clearInterval(look)
    // And the connection with it.
    else if (isTooLong || isLate) request.destroy()
  }, LOOK_MS)
  request.unpipe()
  request.removeAllListeners('data')
  request.resume()
}
