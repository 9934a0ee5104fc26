/** A Telegram of another make: the test server of github.com/gotd/td, in a Go process of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { DataCentreAddress } from '../../src/platforms/telegram/client.ts'
import { goWith, Missing } from '../libraries/toolchains.ts'
import { until } from './client.ts'
import { trust } from './telegram-dc/crypto.ts'

const source = new URL('gotd', import.meta.url).pathname
const patience = 30_000

interface Entity {
  readonly type: string
  readonly offset: number
  readonly length: number
  readonly url?: string
}

/** A request as the server has decoded it. */
export interface Heard {
  readonly method: string
  readonly centre: number
  /** The numbers of the key, of the session and of the message, and the salt. */
  readonly key: string
  readonly session: string
  readonly id: string
  readonly salt: string
  /** What was wrong with its message, by the number of the network. */
  readonly refused?: number
  /** It was carried out. */
  readonly done?: true
  /** Of a message that the account sends. */
  readonly text?: string
  readonly peer?: number
  readonly random?: string
  readonly entities?: readonly Entity[]
}

/** What happens to the next request of a kind: `lost` carries it out, and its answer does not arrive. */
type Fault =
  | { readonly kind: 'cut' | 'lost' }
  | { readonly kind: 'salt'; readonly salt: string }
  | { readonly kind: 'error'; readonly code: number; readonly text: string }

type Command =
  | { readonly do: 'fault'; readonly method: string; readonly fault: Fault }
  | { readonly do: 'shift'; readonly seconds: number }
  | { readonly do: 'home'; readonly centre: number }
  | { readonly do: 'cut' | 'revoke' }
  | {
      readonly do: 'write'
      readonly text: string
      /** In which form the account is told; absent: not at all. */
      readonly form?: 'whole' | 'short' | 'shortest' | 'too long'
      readonly entities?: readonly Entity[]
    }

interface Line {
  readonly centres?: readonly { readonly id: number; readonly port: number; readonly key: string }[]
  readonly heard?: Heard
  readonly done?: number
  readonly error?: string
}

/** The program, or the reason where it is not to be had. */
export async function builtGotd(): Promise<{ readonly program: string } | string> {
  try {
    return { program: join(await goWith(source), 'gotd') }
  } catch (cause) {
    if (cause instanceof Missing) return cause.message
    throw cause
  }
}

/** Its account, whose friend is a contact. */
export const phone = '15550123'
export const code = '12345'
export const account = 7001
export const friend = 7002

export class Gotd {
  /** All requests so far. */
  readonly heard: Heard[] = []
  entrance: DataCentreAddress = { id: 0, ipAddress: '', port: 0 }
  readonly #process: ChildProcessWithoutNullStreams
  readonly #done = new Map<number, string | undefined>()
  #complaint = ''
  #commands = 0

  private constructor(program: string) {
    this.#process = spawn(program)
    this.#process.stderr.on('data', (chunk) => {
      this.#complaint = `${this.#complaint}${chunk}`.slice(-4_000)
    })
  }

  static async start(t: { teardown(end: () => unknown): void }, program: string): Promise<Gotd> {
    const server = new Gotd(program)
    t.teardown(() => server.#stop())
    const lines = createInterface({ input: server.#process.stdout })
    const signal = AbortSignal.timeout(patience)
    const [first] = await once(lines, 'line', { signal }).catch(() => {
      throw new Error(`gotd did not start: ${server.#complaint}`)
    })
    lines.on('line', (text) => server.#take(JSON.parse(text)))
    const { centres = [] }: Line = JSON.parse(first)
    for (const { key } of centres) await trust(key)
    const [{ id, port } = { id: 0, port: 0 }] = centres
    server.entrance = { id, ipAddress: '127.0.0.1', port }
    return server
  }

  async tell(command: Command): Promise<void> {
    const number = ++this.#commands
    this.#process.stdin.write(`${JSON.stringify({ number, ...command })}\n`)
    await until(() => this.#done.has(number), patience)
    const error = this.#done.get(number)
    if (error) throw new Error(error)
  }

  fault(method: string, fault: Fault): Promise<void> {
    return this.tell({ do: 'fault', method, fault })
  }

  /** The requests of a kind so far. */
  requests(method: string): Heard[] {
    return this.heard.filter((request) => request.method === method)
  }

  #take({ heard, done, error }: Line) {
    if (heard) this.heard.push(heard)
    if (done !== undefined) this.#done.set(done, error)
  }

  async #stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }
}
