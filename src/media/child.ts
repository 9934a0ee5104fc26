/** One run of a program on hostile bytes: without our environment, with a time limit, its output bounded. */
import { spawn } from 'node:child_process'

export interface Run {
  readonly succeeded: boolean
  readonly output: Buffer
  /** The end of what it complained about; may name paths, so it is for the log alone. */
  readonly complaint: string
}

const OUTPUT_BYTES = 1_048_576
const COMPLAINT_CHARACTERS = 2_000

/** Rejects only when the caller's signal aborts; whatever else happens is no success. */
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
    // Without a process there is nothing that could close.
    if (child.pid === undefined) resolve(false)
  })
  child.once('close', (code) => resolve(code === 0))
  const succeeded = await promise
  signal.throwIfAborted()
  return { succeeded, output: Buffer.concat(chunks), complaint }
}
