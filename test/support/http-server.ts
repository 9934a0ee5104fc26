/** An HTTP server for the time of a test, on a free port of this machine. */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { Test } from 'tap'

export async function listen(
  t: Pick<Test, 'teardown'>,
  listener: RequestListener,
): Promise<Server> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

export function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

export const urlOf = (server: Server): string => `http://127.0.0.1:${portOf(server)}`
