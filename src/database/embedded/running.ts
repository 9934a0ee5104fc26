/** Finds a server that already runs on the cluster, as one does after its owner was killed. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Home } from './home.ts'
import { commandLine, isAlive } from './processes.ts'

export interface Running {
  readonly pid: number
  readonly port: number
}

async function readIfPresent(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

export async function findRunning(home: Home): Promise<Running | undefined> {
  const lockFile = join(home.cluster, 'postmaster.pid')
  const lines = (await readIfPresent(lockFile))?.split('\n')
  if (lines === undefined) return undefined
  const pid = Number(lines[0])
  if (!(await isAlive(pid))) return undefined
  if ((await commandLine(pid)).includes(home.cluster)) return { pid, port: Number(lines[3]) }
  // The number was given to another process since: Postgres would refuse to start because of it.
  await rm(lockFile)
  return undefined
}

export const commandOfRunning = (home: Home): Promise<string | undefined> =>
  readIfPresent(join(home.cluster, 'postmaster.opts'))
