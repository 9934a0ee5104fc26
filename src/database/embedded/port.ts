/** Chooses the TCP port: the one used last time if it is still free. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { type Home, rememberedPort } from './home.ts'

/** Port 0 lets the system choose. Undefined when the port is taken. */
async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined
    throw error
  } finally {
    server.close()
  }
}

export async function choosePort(home: Home): Promise<number> {
  const last = await rememberedPort(home)
  const port = (last && (await tryPort(last))) ?? (await tryPort(0))
  if (port === undefined) throw new Error('No free TCP port on 127.0.0.1')
  if (port !== last) await writeFile(home.portFile, `${port}\n`, { mode: 0o600 })
  return port
}
