/** The judge of histories: Porcupine (github.com/anishathalye/porcupine), in a Go process with models of a key's updates and sends. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { goWith, Missing } from '../libraries/toolchains.ts'

const source = new URL('porcupine', import.meta.url).pathname
const WITHIN_SECONDS = 60

export interface Update {
  readonly id: number
  readonly text: string
}

export interface Outcome {
  readonly status?: number
  readonly description?: string
  readonly updates?: readonly Update[]
  /** The id that the message got. */
  readonly message?: number
  /** A webhook has acknowledged what it got. */
  readonly taken?: boolean
  readonly texts?: readonly string[]
}

/** One call of a history. Times are in microseconds; without an end nobody knows whether and when it was carried out. */
export interface RecordedCall {
  readonly client: string
  readonly call: string
  readonly began: number
  readonly ended?: number
  readonly args: Readonly<Record<string, string | number | boolean>>
  readonly outcome?: Outcome
}

interface Verdict {
  readonly result: 'Ok' | 'Illegal' | 'Unknown'
  readonly operations: number
  /** The first call for which there is no place in any order. */
  readonly stuck?: string
}

/** Of the log with its cursor and its webhook, and of the sends with an Idempotency-Key. */
export interface Verdicts {
  readonly log: Verdict
  readonly sends: Verdict
}

/** The judge, or the reason where it is not to be had. */
export async function builtPorcupine(): Promise<{ readonly program: string } | string> {
  try {
    return { program: join(await goWith(source), 'porcupine') }
  } catch (cause) {
    if (cause instanceof Missing) return cause.message
    throw cause
  }
}

export async function judged(program: string, history: readonly RecordedCall[]): Promise<Verdicts> {
  const judge = spawn(program, ['-within', `${WITHIN_SECONDS}s`])
  const closed = once(judge, 'close')
  const said = [text(judge.stdout), text(judge.stderr)]
  judge.stdin.end(history.map((call) => `${JSON.stringify(call)}\n`).join(''))
  const [answer = '', complaint] = await Promise.all(said)
  const [code] = await closed
  if (code !== 0) throw new Error(`the judge ended with ${code}: ${complaint}`)
  return JSON.parse(answer)
}
