/** Ports for the servers that tests start. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No free port')
  return address.port
}

/** Resolves once a server accepts connections there. */
export async function accepting(port: number, milliseconds = 60_000): Promise<void> {
  const signal = AbortSignal.timeout(milliseconds)
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const accepts = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (accepts) return
    await delay(50, undefined, { signal })
  }
}
