/** A Redis server of the test's own, where the machine has one; it can be killed, frozen and started again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Owner {
  teardown(work: () => Promise<void>): void
}

export async function hasRedis(): Promise<boolean> {
  const probe = spawn('redis-server', ['--version'], { stdio: 'ignore' })
  return await once(probe, 'exit').then(
    ([code]) => code === 0,
    () => false,
  )
}

export class RedisServer {
  readonly port: number
  readonly #folder: string
  #process: ChildProcess | undefined

  private constructor(port: number, folder: string) {
    this.port = port
    this.#folder = folder
  }

  /** Redis picks no port of its own, so one that was free a moment ago has to do. */
  static async create(owner: Owner): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), 'chapar-redis-')))
    owner.teardown(async () => {
      await server.kill()
      await rm(server.#folder, { recursive: true, force: true })
    })
    return server
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** With nothing of what it had. */
  async start(): Promise<void> {
    const options = ['--port', `${this.port}`, '--dir', this.#folder, '--save', '']
    const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] })
    this.#process = server
    for await (const line of server.stdout) if (/Ready to accept/.test(`${line}`)) break
    server.stdout.resume()
  }

  async kill(): Promise<void> {
    const server = this.#process
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }

  freeze(): void {
    this.#process?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process?.kill('SIGCONT')
  }

  /** One command, as its protocol's words. */
  async tell(command: string): Promise<void> {
    const socket = connect(this.port, '127.0.0.1').end(`${command}\r\n`)
    await once(socket.resume(), 'close')
  }
}

/** The address of one that runs until the test is over. */
export async function startRedis(t: Owner): Promise<string> {
  const server = await RedisServer.create(t)
  await server.start()
  return server.url
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
