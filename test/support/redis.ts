/** A Redis server of the test's own, where the machine has one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

export async function hasRedis(): Promise<boolean> {
  const probe = spawn('redis-server', ['--version'], { stdio: 'ignore' })
  return await once(probe, 'exit').then(
    ([code]) => code === 0,
    () => false,
  )
}

/** Redis picks no port of its own, so one that was free a moment ago has to do. */
export async function startRedis(t: Pick<Test, 'teardown'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-redis-'))
  const port = await freePort()
  const server = spawn('redis-server', ['--port', `${port}`, '--dir', folder], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(async () => {
    server.kill()
    await once(server, 'exit')
    await rm(folder, { recursive: true, force: true })
  })
  for await (const line of server.stdout) if (/Ready to accept/.test(`${line}`)) break
  return `redis://127.0.0.1:${port}`
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
