/** Clients of another make on the test network: Telethon, in a Python process of its own. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Missing, pythonWith } from '../libraries/toolchains.ts'
import { serverKey } from './telegram-dc/crypto.ts'
import type { TelegramNetwork } from './telegram-dc/network.ts'
import type { Person } from './telegram-dc/people.ts'

const source = new URL('telethon', import.meta.url).pathname
const patience = 30_000

/** How a client frames what it sends. */
export type Way = 'full' | 'abridged' | 'intermediate' | 'padded' | 'obfuscated'

/** An object of the type language as Telethon shows it. */
/** What the foreign program says. */
type Json = ReturnType<typeof JSON.parse>

export interface Told {
  readonly _: string
  readonly [field: string]: Json
}

interface Line {
  readonly client?: string
  readonly update?: Told
  readonly heard?: Told
  readonly pieces?: readonly (readonly [kind: string, text: string])[]
  readonly answer?: number
  readonly result?: Json
  readonly error?: { readonly kind: string; readonly text: string; readonly seconds: number | null }
}

/** Why Telethon did not do something. */
export class TelethonError extends Error {
  readonly kind: string
  readonly seconds: number | null

  constructor({ kind, text, seconds }: NonNullable<Line['error']>) {
    super(`${kind}: ${text}`)
    this.kind = kind
    this.seconds = seconds
  }
}

type Settle = Pick<PromiseWithResolvers<unknown>, 'resolve' | 'reject'>

export class Telethon {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #clients = new Map<string, TelethonClient>()
  readonly #asked = new Map<number, Settle>()
  #complaint = ''
  #commands = 0

  private constructor(python: string) {
    this.#process = spawn(python, ['-u', join(source, 'clients.py')], {
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    })
    this.#process.stderr.on('data', (chunk) => {
      this.#complaint = `${this.#complaint}${chunk}`.slice(-4_000)
    })
    this.#process.on('close', () => {
      for (const { reject } of this.#asked.values()) reject(new Error(this.#complaint))
    })
    createInterface({ input: this.#process.stdout }).on('line', (text) => this.#take(text))
  }

  /** Resolves with the reason where it is not to be had. */
  static async start(): Promise<Telethon | string> {
    try {
      return new Telethon(join(await pythonWith(source), 'bin/python'))
    } catch (cause) {
      if (cause instanceof Missing) return cause.message
      throw cause
    }
  }

  /** Connected and not signed in. */
  async client(network: TelegramNetwork, way: Way = 'full', api = 777): Promise<TelethonClient> {
    const name = `client ${this.#clients.size}`
    const client = new TelethonClient(
      (command) => this.#ask({ client: name, ...command }),
      () => this.#complaint,
    )
    this.#clients.set(name, client)
    const { id: dc, port } = network.entrance
    const { pem: key } = await serverKey()
    await client.ask({ do: 'connect', dc, port, key, way, api })
    return client
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }

  #take(text: string) {
    const line: Line = JSON.parse(text)
    if (line.answer === undefined) return this.#clients.get(line.client ?? '')?.take(line)
    const asked = this.#asked.get(line.answer)
    this.#asked.delete(line.answer)
    if (line.error) asked?.reject(new TelethonError(line.error))
    else asked?.resolve(line.result)
  }

  async #ask(command: object): Promise<Json> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const number = ++this.#commands
    this.#asked.set(number, { resolve, reject })
    this.#process.stdin.write(`${JSON.stringify({ number, ...command })}\n`)
    const late = setTimeout(
      () => reject(new Error(`no answer to ${JSON.stringify(command)}; ${this.#complaint}`)),
      patience,
    )
    return promise.finally(() => clearTimeout(late))
  }
}

export class TelethonClient {
  /** All that it was told without asking. */
  readonly lines: Line[] = []
  readonly ask: (command: object) => Promise<Json>
  readonly #changed = new EventTarget()

  readonly #complaint: () => string

  constructor(ask: (command: object) => Promise<Json>, complaint: () => string) {
    this.ask = ask
    this.#complaint = complaint
  }

  take(line: Line) {
    this.lines.push(line)
    this.#changed.dispatchEvent(new Event('change'))
  }

  /** As a user does it: a code is asked for and given, and the password. */
  async signIn(person: Person, password?: string): Promise<Told> {
    const phone = `+${person.phone}`
    await this.method('send_code_request', [phone])
    return this.ask({ do: 'sign in', phone, code: person.code, password })
  }

  /** A method of its client. */
  method(name: string, given: readonly unknown[] = [], fields: object = {}) {
    return this.ask({ do: 'method', name, given, fields })
  }

  /** A request of the network, named as in Telethon. */
  raw(name: string, fields: object = {}) {
    return this.ask({ do: 'raw', name, fields })
  }

  /** Resolves with the first truthy value that `find` yields for a line, past or to come. */
  async until<Value>(find: (line: Line) => Value | undefined | false): Promise<Value> {
    const signal = AbortSignal.timeout(patience)
    for (let next = 0; ; ) {
      for (; next < this.lines.length; next++) {
        const found = find(this.lines[next]!)
        if (found) return found
      }
      await once(this.#changed, 'change', { signal }).catch(() => {
        throw new Error(`Telethon was not told so: ${find}; ${this.#complaint()}`)
      })
    }
  }

  /** A message with this text, as Telethon reads it. */
  hears(text: string) {
    return this.until((line) => line.heard?.message === text && line)
  }

  /** The first update of this kind that matches. */
  told(kind: string, matches: (update: Told) => boolean = () => true): Promise<Told> {
    return this.until(({ update }) => update?._ === kind && matches(update) && update)
  }
}
