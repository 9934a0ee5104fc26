/** Starts the server process, out of reach of the terminal's signals, and waits until it answers. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FileHandle, open, rename, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import type { OwnedServer } from './adopt.ts'
import { type Claim, claimServer, NotListening } from './claim.ts'
import { environment } from './cluster.ts'
import { type Home, rememberedPort } from './home.ts'
import { eventually, stopServer } from './processes.ts'
import type { Setup } from './setup.ts'
import { serverArguments } from './setup.ts'

/** The server's own log: kept small, and read back when a start fails. */
const ROTATE_ABOVE_BYTES = 10 * 1024 * 1024
const QUOTED_BYTES = 4_000

interface ServerLog {
  readonly handle: FileHandle
  /** The text written since the file was opened. Only the end of a long text is returned. */
  written(): Promise<string>
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}

async function openLog(path: string): Promise<ServerLog> {
  if ((await sizeOf(path)) > ROTATE_ABOVE_BYTES) await rename(path, `${path}.1`)
  const handle = await open(path, 'a+', 0o600)
  const start = (await handle.stat()).size
  return {
    handle,
    async written() {
      const from = Math.max(start, (await sizeOf(path)) - QUOTED_BYTES)
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(QUOTED_BYTES), {
        position: from,
      })
      return buffer.toString('utf8', 0, bytesRead).trim()
    },
  }
}

/** Port 0 lets the system choose. Undefined when the port is taken. */
async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1')
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

async function choosePort(home: Home): Promise<number> {
  const last = await rememberedPort(home)
  const port = (last && (await tryPort(last))) ?? (await tryPort(0))
  if (port === undefined) throw new Error('No free TCP port on 127.0.0.1')
  if (port !== last) await writeFile(home.portFile, `${port}\n`, { mode: 0o600 })
  return port
}

/** Replaying the log after a crash may take minutes. */
const READY_LIMIT_MS = 300_000
/** The last processes of a killed server may still run, or another process is starting the server. */
const inTheWay = /shared memory block|lock file "postmaster\.pid"|Address already in use/

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

async function spawnServer(setup: Setup, port: number, log: ServerLog): Promise<ChildProcess> {
  const args = serverArguments(setup.home, port, setup.settings)
  const child = spawn(setup.binaries.postgres, args, {
    ...setup.home.account,
    cwd: '/',
    env: environment,
    detached: true,
    // A file and not a pipe: the server must be able to log when we are gone.
    stdio: ['ignore', 'ignore', log.handle.fd],
  })
  await once(child, 'spawn')
  child.unref()
  return child
}

async function untilReady(child: ChildProcess, url: string): Promise<Claim | undefined> {
  const claim = await eventually<Claim | 'ended'>(READY_LIMIT_MS, async () => {
    if (hasEnded(child)) return 'ended'
    try {
      return await claimServer(url)
    } catch (error) {
      if (error instanceof NotListening) return undefined
      throw error
    }
  })
  return claim === 'ended' ? undefined : claim
}

/** Undefined if the start failed for a temporary reason. */
export async function launch(setup: Setup): Promise<OwnedServer | undefined> {
  const port = setup.options.port ?? (await choosePort(setup.home))
  const log = await openLog(setup.home.logFile)
  try {
    const child = await spawnServer(setup, port, log)
    const pid = child.pid as number
    const claim = await untilReady(child, setup.url(port, 'postgres'))
    if (claim !== undefined) return { pid, port, claim }
    if (!hasEnded(child)) await stopServer(pid)
    const written = await log.written()
    if (inTheWay.test(written)) return undefined
    throw new Error(`PostgreSQL did not start:\n${written}`)
  } finally {
    await log.handle.close()
  }
}
