/** Whether a port can be listened on: asked before the database is touched, or a start in vain takes it from others. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Rejects with what keeps it from listening there. */
export async function assertFree(host: string, port: number): Promise<void> {
  const server = createServer()
  server.listen({ host, port })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}
