/** Looks at, waits for and ends operating system processes that are not our children. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Repeats an attempt until it gives something or the time is over. */
export async function eventually<T>(
  limitMs: number,
  attempt: () => Promise<T | undefined>,
  pauseMs = 20,
): Promise<T | undefined> {
  const end = performance.now() + limitMs
  for (;;) {
    const result = await attempt()
    if (result !== undefined || performance.now() > end) return result
    await pause(pauseMs)
  }
}

/** A dead process may stay a zombie for ever in a container whose first process does not reap its children. */
async function isZombie(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
}

export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return !(await isZombie(pid))
}

export async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    return await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  }
  const ps = promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)], { timeout: 5_000 })
  return await ps.then(
    ({ stdout }) => stdout,
    () => '',
  )
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const gone = (pid: number, limitMs: number) =>
  eventually(limitMs, async () => ((await isAlive(pid)) ? undefined : true))

/** The shutdown modes of PostgreSQL in order: fast, immediate, then a kill. */
export async function stopServer(pid: number): Promise<void> {
  for (const [name, limitMs] of [
    ['SIGINT', 30_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    signal(pid, name)
    if (await gone(pid, limitMs)) return
  }
  throw new Error(`PostgreSQL (process ${pid}) cannot be stopped`)
}
