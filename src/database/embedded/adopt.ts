/** Takes over a server whose owner is gone, or ends it when it was started differently. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Claim, claimServer, NotListening } from './claim.ts'
import type { Home } from './home.ts'
import { commandLine, eventually, isAlive, stopServer } from './processes.ts'
import { recordedCommand, type Setup, serverArguments } from './setup.ts'

/** A server that already runs on the cluster, as after its owner was killed. */
interface Running {
  readonly pid: number
  readonly port: number
}

async function readIfPresent(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

async function findRunning(home: Home): Promise<Running | undefined> {
  const lockFile = join(home.cluster, 'postmaster.pid')
  const lines = (await readIfPresent(lockFile))?.split('\n')
  if (lines === undefined) return undefined
  const pid = Number(lines[0])
  if (!(await isAlive(pid))) return undefined
  if ((await commandLine(pid)).includes(home.cluster)) return { pid, port: Number(lines[3]) }
  // Another process has this process id now. PostgreSQL would refuse to start because of it.
  await rm(lockFile)
  return undefined
}

const commandOfRunning = (home: Home): Promise<string | undefined> =>
  readIfPresent(join(home.cluster, 'postmaster.opts'))

/** A dead owner's connection takes a moment to end. */
const CLAIM_LIMIT_MS = 1_500
const ANSWER_LIMIT_MS = 60_000

export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse'
}

export interface OwnedServer extends Running {
  readonly claim: Claim
}

type Answer = Claim | 'silent' | 'gone'

async function askRunning(setup: Setup, { pid, port }: Running): Promise<Answer> {
  const claimEnd = performance.now() + CLAIM_LIMIT_MS
  const answer = await eventually<Answer>(ANSWER_LIMIT_MS, async () => {
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

export async function adopt(setup: Setup): Promise<OwnedServer | undefined> {
  const running = await findRunning(setup.home)
  if (running === undefined) return undefined
  const answer = await askRunning(setup, running)
  if (answer === 'gone') return undefined
  const { logger } = setup.options
  if (answer !== 'silent' && (await isAsWanted(setup, running.port))) {
    logger.info({ pid: running.pid }, 'took over the PostgreSQL that was still running')
    return { ...running, claim: answer }
  }
  logger.warn({ pid: running.pid, answer: typeof answer }, 'replacing the PostgreSQL still running')
  if (answer !== 'silent') await answer.release()
  await stopServer(running.pid)
  return undefined
}
