/** Worker task: drives a program from its start to its end. */
import type { MessagePort } from 'node:worker_threads'
import { type Run, run } from '../child.ts'

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
