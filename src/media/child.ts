/** Runs a program on hostile bytes: without our environment, with a time limit and bounded output; a worker task. */
import { spawn } from 'node:child_process'
import type { MessagePort } from 'node:worker_threads'

export interface Run {
  readonly succeeded: boolean
  readonly output: Buffer
  /** The end of its error output. It may contain paths, so it goes only to the log. */
  readonly complaint: string
}

const OUTPUT_BYTES = 1_048_576
const COMPLAINT_CHARACTERS = 2_000

/** Rejects only if the caller's signal aborts; any other failure resolves without success. */
export async function run(
  program: string,
  args: readonly string[],
  { takes, signal }: { readonly takes: number; readonly signal: AbortSignal },
): Promise<Run> {
  signal.throwIfAborted()
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {},
    signal: AbortSignal.any([signal, AbortSignal.timeout(takes)]),
    killSignal: 'SIGKILL',
  })
  const chunks: Buffer[] = []
  let bytes = 0
  let complaint = ''
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= OUTPUT_BYTES) chunks.push(chunk)
    else child.kill('SIGKILL')
  })
  child.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk).slice(-COMPLAINT_CHARACTERS)
  })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  child.once('error', (error) => {
    complaint ||= error.message
    // A process that did not start never emits `close`.
    if (child.pid === undefined) resolve(false)
  })
  child.once('close', (code) => resolve(code === 0))
  const succeeded = await promise
  signal.throwIfAborted()
  return { succeeded, output: Buffer.concat(chunks), complaint }
}

export interface ProgramTask {
  readonly program: string
  readonly args: readonly string[]
  /** Its time limit in milliseconds. */
  readonly takes: number
  /** A message on it kills the program. */
  readonly abort: MessagePort
}

/** Resolves once the program has ended, killed or not. */
export async function program({ program, args, takes, abort }: ProgramTask): Promise<Run> {
  const aborting = new AbortController()
  abort.once('message', () => aborting.abort())
  try {
    return await run(program, args, { takes, signal: aborting.signal })
  } catch (error) {
    if (!aborting.signal.aborted) throw error
    return { succeeded: false, output: Buffer.alloc(0), complaint: 'aborted' }
  } finally {
    abort.close()
  }
}
