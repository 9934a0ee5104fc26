/** Ports for the servers that tests start. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Below those that the system gives to outgoing connections: one of these could take a port before its server does. */
const FIRST = 20_000
const LAST = 32_000

const given = new Set<number>()

/** A port of this machine that nobody listens on just now, and another one each time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    if (given.has(port)) continue
    given.add(port)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw cause
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
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
