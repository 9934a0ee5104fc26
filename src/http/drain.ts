/** Closes a server without cutting an answer short, and without waiting for those who ask for none. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const SWEEP_MS = 50
/** An answer that takes longer than this after the end has begun is cut. */
const LONGEST_MS = 10_000

/** Call it before the server listens; it returns how to close. */
export function drained(app: FastifyInstance): () => Promise<void> {
  const { server } = app
  /** Connections that never asked anything; Node stops timing them once it closes. */
  const silent = new Set<Socket>()
  // One function for all of them: there may be many thousands.
  function forget(this: Socket): void {
    silent.delete(this)
  }
  server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.on('close', forget)
  })
  server.on('request', ({ socket }: IncomingMessage) => {
    if (silent.delete(socket)) socket.off('close', forget)
  })

  const sweep = () => {
    for (const socket of silent) socket.destroy()
    // A connection that is idle only after its last answer would hold the server open for its keep-alive time.
    server.closeIdleConnections()
  }
  return async () => {
    const sweeping = setInterval(sweep, SWEEP_MS)
    const end = setTimeout(() => server.closeAllConnections(), LONGEST_MS)
    await app.close().finally(() => {
      clearInterval(sweeping)
      clearTimeout(end)
    })
  }
}
