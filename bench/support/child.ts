/** A process of its own that is asked over a channel: what is measured does not share a heap with the load. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'

interface Question {
  readonly id: number
  readonly command: string
  readonly options: unknown
}

interface Answer {
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

export interface Child {
  ask<Result>(command: string, options?: unknown): Promise<Result>
  /** Sends it a signal of the system. */
  signal(name: NodeJS.Signals): void
  /** Asks it to stop, and waits for its end. */
  stop(): Promise<void>
}

const launcher = join(import.meta.dirname, '../../bin/runtime.mjs')
const { serviceArguments, serviceEnvironment } = (await import(launcher)) as {
  serviceArguments(): string[]
  serviceEnvironment(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv
}

/** Memory and threads as the launcher gives them to the service, for the bare ones too. */
const environment = { ...process.env, ...serviceEnvironment(process.env) }

/** With the garbage collector at hand, or memory could not be compared. */
const ALWAYS = ['--expose-gc', '--disable-warning=ExperimentalWarning', ...serviceArguments()]

export function startChild(file: string, execArgv: readonly string[] = []): Child {
  const child = fork(file, { execArgv: [...ALWAYS, ...execArgv], env: environment })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const ended = once(child, 'exit').then(([code, signal]) => {
    const died = new Error(`${file} ended with ${code ?? signal}`)
    for (const { reject } of waiting.values()) reject(died)
  })
  child.on('message', ({ id, result, error }: Answer) => {
    const question = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) question?.resolve(result)
    else question?.reject(new Error(error))
  })
  let questions = 0
  const ask = <Result>(command: string, options?: unknown) => {
    const answer = Promise.withResolvers<unknown>()
    const id = ++questions
    waiting.set(id, answer)
    child.send({ id, command, options } satisfies Question)
    return answer.promise as Promise<Result>
  }
  return {
    ask,
    signal: (name) => void child.kill(name),
    async stop() {
      // It may have come to its end by itself.
      if (child.exitCode !== null || child.signalCode !== null) return
      await ask('stop')
      child.disconnect()
      await ended
    },
  }
}

export type Commands = Readonly<Record<string, (options: never) => unknown>>

const LEFT_ALONE_MS = 10_000

/** The other end: answers what the parent asks. */
export function answerParent(commands: Commands): void {
  // A parent that has failed leaves nobody behind.
  process.on('disconnect', () => setTimeout(() => process.exit(1), LEFT_ALONE_MS).unref())
  process.on('message', async ({ id, command, options }: Question) => {
    const answer: Answer = await Promise.resolve()
      .then(() => commands[command]?.(options as never))
      .then(
        (result) => ({ id, result }),
        (error: Error) => ({ id, error: error.stack ?? error.message }),
      )
    process.send?.(answer)
  })
}

export interface Memory {
  readonly rss: number
  /** Live objects and what they hold outside the heap. */
  readonly heap: number
}

/** After everything that can be collected is gone, compiled code too, and its pages were given back. */
export async function memory(): Promise<Memory> {
  for (let round = 0; round < 2; round++) {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    await pause(50)
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heap: heapUsed + external }
}

/** Open files, connections among them. */
export const descriptors = (): number => readdirSync('/proc/self/fd').length

/** Timers that are set, of those that keep a process alive. */
export const timers = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

/** Milliseconds of processor time so far. */
export function processor(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** A finer grain would itself be a load. */
const GRAIN_MS = 2
const delay = monitorEventLoopDelay({ resolution: GRAIN_MS })

/** The longest time in milliseconds, since it began, that the event loop could not turn to anything new. */
export function stalls(step: 'begin' | 'end'): number {
  if (step === 'end') delay.disable()
  const longest = Math.max(0, delay.max / 1e6 - GRAIN_MS)
  delay.reset()
  if (step === 'begin') delay.enable()
  return longest
}
