/** A client of yet another make on the other side of the XMPP tests: mellium.im/xmpp, in Go processes. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

interface Reference {
  readonly id: string
  readonly to?: string
}

/** What the client heard. */
export interface Heard {
  readonly online?: true
  readonly joined?: string
  readonly from?: string
  readonly type?: string
  readonly id?: string
  readonly body?: string
  readonly replaces?: Reference
  readonly replyTo?: Reference
}

export interface Words {
  readonly to: string
  readonly type: 'chat' | 'groupchat'
  readonly id: string
  readonly body: string
  readonly replaces?: Reference
  readonly replyTo?: Reference
}

const source = new URL('mellium', import.meta.url).pathname
const run = promisify(execFile)
const buildMilliseconds = 300_000
const patience = 30_000

/** Builds it with the Go of the machine, its modules fetched where they are not there yet. */
export class Mellium {
  readonly #folder: string
  readonly #clients: MelliumClient[] = []

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Resolves with the reason where it cannot be built here. */
  static async build(): Promise<Mellium | string> {
    const folder = await mkdtemp(join(tmpdir(), 'chapar-mellium-'))
    // Another Go than the machine's would be fetched at times.
    const env = { ...process.env, GOTOOLCHAIN: 'local' }
    const go = (...words: string[]) =>
      run('go', words, { cwd: source, timeout: buildMilliseconds, env })
    const missing = await go('mod', 'download').then(() => undefined, reasonOf)
    if (missing === undefined) {
      await go('build', '-mod=readonly', '-o', join(folder, 'client'), '.')
      return new Mellium(folder)
    }
    await rm(folder, { recursive: true })
    return missing
  }

  /** Logs in; `jid` with the resource. */
  async client(jid: string, password: string, port: number): Promise<MelliumClient> {
    const words = ['-server', `127.0.0.1:${port}`, '-jid', jid]
    const env = { ...process.env, PASSWORD: password }
    const client = new MelliumClient(jid, spawn(join(this.#folder, 'client'), words, { env }))
    this.#clients.push(client)
    await client.hears(({ online }) => online === true)
    return client
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) await client.stop()
    await rm(this.#folder, { recursive: true })
  }
}

export class MelliumClient {
  readonly jid: string
  readonly heard: Heard[] = []
  readonly #process: ChildProcessWithoutNullStreams
  readonly #changed = new EventTarget()
  #complaint = ''

  constructor(jid: string, process: ChildProcessWithoutNullStreams) {
    this.jid = jid
    this.#process = process
    process.stderr.on('data', (chunk) => {
      this.#complaint = `${this.#complaint}${chunk}`.slice(-2_000)
    })
    process.on('close', () => this.#changed.dispatchEvent(new Event('change')))
    createInterface({ input: process.stdout }).on('line', (line) => {
      this.heard.push(JSON.parse(line))
      this.#changed.dispatchEvent(new Event('change'))
    })
  }

  say(words: Words) {
    this.#tell(words)
  }

  /** With a client of this make a room is joined when it has said who is in it. */
  async join(room: string, nick: string): Promise<void> {
    this.#tell({ join: `${room}/${nick}` })
    await this.hears(({ joined }) => joined === `${room}/${nick}`)
  }

  /** Resolves with the first, past or to come, that matches. */
  async hears(matches: (heard: Heard) => boolean): Promise<Heard> {
    const signal = AbortSignal.timeout(patience)
    for (;;) {
      const found = this.heard.find(matches)
      if (found) return found
      if (this.#process.exitCode !== null) throw new Error(`${this.jid}: ${this.#complaint}`)
      await once(this.#changed, 'change', { signal }).catch(() => {
        const heard = JSON.stringify(this.heard.slice(-3))
        throw new Error(`${this.jid} did not hear ${matches}, but ${heard} ${this.#complaint}`)
      })
    }
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }

  #tell(command: object) {
    this.#process.stdin.write(`${JSON.stringify(command)}\n`)
  }
}

function reasonOf({ code, stderr = '' }: { code?: unknown; stderr?: string }): string {
  if (code === 'ENOENT') return 'go is not installed'
  return `go does not get the modules of mellium: ${stderr.trim().split('\n').at(-1)}`
}
