/** Takes over a server whose owner is gone, or ends it when it was started differently. */
import { type Claim, claimServer, NotListening } from './claim.ts'
import { recordedCommand, serverArguments } from './command.ts'
import { eventually, isAlive, stopServer } from './processes.ts'
import { commandOfRunning, findRunning, type Running } from './running.ts'
import type { Setup } from './setup.ts'

/** A dead owner's connection takes a moment to end. */
const claimLimitMs = 1_500
const answerLimitMs = 60_000

export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse'
}

export interface Owned extends Running {
  readonly claim: Claim
}

type Answer = Claim | 'silent' | 'gone'

async function askRunning(setup: Setup, { pid, port }: Running): Promise<Answer> {
  const claimEnd = performance.now() + claimLimitMs
  const answer = await eventually<Answer>(answerLimitMs, async () => {
    if (!(await isAlive(pid))) return 'gone'
    try {
      const claim = await claimServer(setup.url(port, 'postgres'))
      if (claim !== undefined) return claim
    } catch (error) {
      if (error instanceof NotListening) return undefined
      throw error
    }
    if (performance.now() < claimEnd) return undefined
    const { dir } = setup.options
    throw new DatabaseInUse(`Another process uses the database in ${dir} (PostgreSQL ${pid})`)
  })
  return answer ?? 'silent'
}

async function isAsWanted(setup: Setup, port: number): Promise<boolean> {
  if (setup.options.port !== undefined && setup.options.port !== port) return false
  const wanted = serverArguments(setup.home, port, setup.settings)
  return (await commandOfRunning(setup.home)) === recordedCommand(setup.binaries.postgres, wanted)
}

export async function adopt(setup: Setup): Promise<Owned | undefined> {
  const running = await findRunning(setup.home)
  if (running === undefined) return undefined
  const answer = await askRunning(setup, running)
  if (answer === 'gone') return undefined
  const { log } = setup.options
  if (answer !== 'silent' && (await isAsWanted(setup, running.port))) {
    log.info({ pid: running.pid }, 'took over the PostgreSQL that was still running')
    return { ...running, claim: answer }
  }
  log.warn({ pid: running.pid, answer: typeof answer }, 'replacing the PostgreSQL still running')
  if (answer !== 'silent') await answer.release()
  await stopServer(running.pid)
  return undefined
}
