/** Closes a server without cutting an answer short, and without waiting for those who ask for none. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const SWEEP_MS = 50
const SILENT_MS = 250
/** Once no answer has ended for so long, those that are left are cut: on a machine that starves, all take long. */
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

  let closedAt = 0
  let answeredAt = 0
  app.addHook('onResponse', (_, __, done) => {
    answeredAt = performance.now()
    done()
  })

  const sweep = () => {
    // What a new one asks may just be on its way.
    if (performance.now() - closedAt > SILENT_MS) for (const socket of silent) socket.destroy()
    if (performance.now() - answeredAt > LONGEST_MS) server.closeAllConnections()
    // A connection that is idle only after its last answer would hold the server open for its keep-alive time.
    server.closeIdleConnections()
  }
  return async () => {
    closedAt = answeredAt = performance.now()
    const sweeping = setInterval(sweep, SWEEP_MS)
    await app.close().finally(() => clearInterval(sweeping))
  }
}
