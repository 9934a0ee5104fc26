/** A bot written with a foreign library, in a process of its own. */

/*
 * Both sides speak JSON lines over stdin and stdout:
 *
 *     → {"start": {"address", "key", "mode", "chat", "allowed_updates", "webhook": {"port", "path", "url", "secret"}}}
 *     ← {"ready": {"version": "22.8"}}                       the bot receives updates from now on
 *     → {"id": 1, "call": "sendMessage", "parameters": {…}}   a file among them is {"upload": path, "name": "a.jpg"}
 *     → {"id": 2, "download": file_id}                        answered with {"size", "sha256"}
 *     ← {"id": 1, "result": …}                                what the library's types hold, in the names of the bot API
 *     ← {"id": 1, "refused": {"code": 400, "description"}}    an error of the bot API, as the library's exception tells it
 *     ← {"id": 1, "absent": "why"}                            the library has no such method or parameter
 *     ← {"id": 1, "failed": "why"}                            the library itself broke, for example in reading an answer
 *     ← {"update": {…}}                                       as the library's handler got it
 *     ← {"untaken": "why"}                                    its webhook answered that it has not taken an update, which comes again
 *     → {"stop": true}
 *
 * A program that only sends gets {"call": "notify", "parameters": {"chat_id", "title", "body", "attachment", "buttons"}}.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { includes } from './includes.ts'

/** What a library says, whatever its language: tests look into it without a schema. */
export type Value = ReturnType<typeof JSON.parse>

/** How updates come; a program that only sends gets none. */
export type Mode = 'polling' | 'webhook' | 'sending'

export interface Start {
  readonly address: string
  readonly key: string
  readonly mode: Mode
  /** Of the person it talks with, for programs that ask whom they may talk with. */
  readonly chat: number
  readonly allowed_updates: readonly string[]
  readonly webhook?: {
    readonly port: number
    readonly path: string
    readonly url: string
    readonly secret: string
  }
}

/** How a bot is started: a program and its words. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** The bot API refused, and the library said so in its own way. */
export class Refused extends Error {
  readonly code: number | undefined
  readonly retryAfter: number | undefined

  constructor(refused: { code?: number; description?: string; retry_after?: number }) {
    super(refused.description ?? 'refused')
    this.code = refused.code
    this.retryAfter = refused.retry_after
  }
}

/** The library has nothing for it. */
export class Absent extends Error {}

/**
 * Some libraries build a class for each type of the reference while they are imported, and gateways load all they have:
 * up to half a minute of work alone, and many times that beside other programs. A program that ends instead is noticed
 * at once.
 */
const startMilliseconds = 300_000
/** Then it is killed, if it has not cleaned up after itself. */
const stopMilliseconds = 4_000
const patience = 20_000
const keptComplaint = 3_000

export class BotProcess {
  readonly updates: Value[] = []
  /** Updates that its webhook has not taken. */
  untaken = 0
  version = ''
  readonly #process: ChildProcessWithoutNullStreams
  readonly #open = new Map<number, PromiseWithResolvers<Value>>()
  readonly #ready = Promise.withResolvers<Value>()
  readonly #changed = new EventTarget()
  readonly #heard: (update: Value) => void
  readonly #ended = Promise.withResolvers<string>()
  /** Resolves with the reason once its process is gone. */
  readonly ended = this.#ended.promise
  #complaint = ''
  #asked = 0

  private constructor(program: Program, heard: (update: Value) => void) {
    this.#heard = heard
    const env = { ...process.env, ...program.env }
    const options = { env, ...(program.cwd !== undefined && { cwd: program.cwd }) }
    this.#process = spawn(program.command, program.args, options)
    this.#process.on('error', (error) => this.#end(error.message))
    this.#process.on('close', (code) => this.#end(`it ended with ${code}`))
    this.#process.stdin.on('error', (error) => this.#end(error.message))
    this.#process.stderr.on('data', (chunk) => {
      this.#complaint = `${this.#complaint}${chunk}`.slice(-keptComplaint)
    })
    createInterface({ input: this.#process.stdout }).on('line', (line) => this.#take(line))
    this.#ready.promise.catch(() => undefined)
  }

  /** Resolves once the bot receives updates; calls back with each of them. */
  static async start(
    program: Program,
    start: Start,
    heard: (update: Value) => void = () => undefined,
  ): Promise<BotProcess> {
    const bot = new BotProcess(program, heard)
    bot.#tell({ start })
    try {
      const { version } = await bot.#within(bot.#ready.promise, startMilliseconds, 'start')
      bot.version = version
    } catch (error) {
      await bot.stop()
      throw error
    }
    return bot
  }

  call(method: string, parameters: object = {}): Promise<Value> {
    return this.#ask({ call: method, parameters }, method)
  }

  download(fileId: string): Promise<{ size: number; sha256: string }> {
    return this.#ask({ download: fileId }, 'download')
  }

  /** The first update since `after` that includes this; `after` is a count of updates. */
  async hears(wanted: object, after = 0): Promise<Value> {
    const end = AbortSignal.timeout(patience)
    for (let next = after; ; ) {
      for (; next < this.updates.length; next++) {
        if (includes(this.updates[next], wanted)) return this.updates[next]
      }
      if (end.aborted) {
        const heard = JSON.stringify(this.updates.slice(after).slice(-3))
        throw new Error(`no update with ${JSON.stringify(wanted)}, but ${heard}${this.#why()}`)
      }
      await Promise.race([once(this.#changed, 'change', { signal: end }), aborted(end)]).catch(
        () => undefined,
      )
    }
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const closed = once(this.#process, 'close')
    this.#tell({ stop: true })
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), stopMilliseconds)
    await closed
    clearTimeout(timer)
  }

  #ask(command: object, name: string): Promise<Value> {
    const id = ++this.#asked
    const answer = Promise.withResolvers<Value>()
    this.#open.set(id, answer)
    this.#tell({ id, ...command })
    return this.#within(answer.promise, patience, name)
  }

  #tell(command: object) {
    if (this.#process.stdin.writable) this.#process.stdin.write(`${JSON.stringify(command)}\n`)
  }

  #take(line: string) {
    let said: Value
    try {
      said = JSON.parse(line)
    } catch {
      // Some libraries print greetings of their own.
      this.#complaint = `${this.#complaint}${line}\n`.slice(-keptComplaint)
      return
    }
    if (said.ready) this.#ready.resolve(said.ready)
    if (said.update) {
      this.updates.push(said.update)
      this.#heard(said.update)
      this.#changed.dispatchEvent(new Event('change'))
    }
    if ('untaken' in said) this.untaken++
    const answer = this.#open.get(said.id)
    if (!answer) return
    this.#open.delete(said.id)
    if ('absent' in said) answer.reject(new Absent(said.absent))
    else if (said.refused) answer.reject(new Refused(said.refused))
    else if ('failed' in said) answer.reject(new Error(`the library failed: ${said.failed}`))
    else answer.resolve(said.result)
  }

  #end(reason: string) {
    const error = new Error(`${reason}${this.#why()}`)
    this.#ended.resolve(error.message)
    this.#ready.reject(error)
    for (const answer of this.#open.values()) answer.reject(error)
    this.#open.clear()
  }

  async #within(work: Promise<Value>, milliseconds: number, name: string): Promise<Value> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => late.reject(new Error(`no answer to ${name}${this.#why()}`)),
      milliseconds,
    )
    return await Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
  }

  #why = () => this.#complaint && `; it printed: ${this.#complaint.trim()}`
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
