/** Shopify's Toxiproxy, which spoils connections, built by the Go of the machine. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { accepting, freePort } from './ports.ts'

const program = 'github.com/Shopify/toxiproxy/v2/cmd/server@v2.5.0'
const buildMilliseconds = 300_000
const run = promisify(execFile)

export interface Toxic {
  readonly type: string
  readonly stream: 'upstream' | 'downstream'
  readonly attributes: Readonly<Record<string, number>>
}

export class Toxiproxy {
  readonly #process: ChildProcess
  readonly #folder: string
  readonly #url: string

  private constructor(process: ChildProcess, folder: string, port: number) {
    this.#process = process
    this.#folder = folder
    this.#url = `http://127.0.0.1:${port}`
  }

  /** Resolves with the reason where it cannot be built here. */
  static async start(): Promise<Toxiproxy | string> {
    const folder = await mkdtemp(join(tmpdir(), 'chapar-toxiproxy-'))
    // Another Go than the machine's would be fetched at times.
    const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '', GOBIN: folder }
    try {
      await run('go', ['install', program], { cwd: folder, timeout: buildMilliseconds, env })
    } catch (error) {
      await rm(folder, { recursive: true })
      const { code } = error as { readonly code?: unknown }
      return code === 'ENOENT' ? 'go is not installed' : 'go does not build toxiproxy'
    }
    const port = await freePort()
    const words = ['-host', '127.0.0.1', '-port', `${port}`]
    const server = spawn(join(folder, 'server'), words, { stdio: 'ignore' })
    await accepting(port)
    return new Toxiproxy(server, folder, port)
  }

  /** Resolves with a port that leads to this one of the machine. */
  async leadTo(name: string, port: number): Promise<number> {
    const own = await freePort()
    const [listen, upstream] = [`127.0.0.1:${own}`, `127.0.0.1:${port}`]
    await this.#tell('/proxies', { name, listen, upstream, enabled: true })
    return own
  }

  async spoil(name: string, toxic: Toxic): Promise<void> {
    await this.#tell(`/proxies/${name}/toxics`, toxic)
  }

  async turn(name: string, enabled: boolean): Promise<void> {
    await this.#tell(`/proxies/${name}`, { enabled })
  }

  /** All ways are free again. */
  async reset(): Promise<void> {
    await this.#tell('/reset', {})
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
    await rm(this.#folder, { recursive: true })
  }

  async #tell(path: string, body: object): Promise<void> {
    const response = await fetch(this.#url + path, { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`toxiproxy: ${await response.text()}`)
  }
}
