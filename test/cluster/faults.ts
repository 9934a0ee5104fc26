/** What befalls PostgreSQL, and the lines to it. */
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../support/client.ts'
import type { Relay } from '../support/relay.ts'
import type { Stage } from './stage.ts'

/** The server ends all other backends, too, and begins anew in the same process. Resolves once it has. */
export async function crashBackend({ database }: Pick<Stage, 'database'>): Promise<void> {
  const [own] = await database.query<{ pid: number; at: Date }>(
    'select pg_backend_pid() as pid, clock_timestamp() as at',
  )
  if (!own) throw new Error('there is no backend')
  process.kill(own.pid, 'SIGKILL')
  const hasBegun = async () => {
    const rows = await database.query('select from pg_stat_bgwriter where stats_reset > $1', [
      own.at,
    ])
    return rows.length > 0
  }
  await until(() => hasBegun().catch(() => false), 30_000)
}

/** How a line fails: closed at once, or nothing comes through, of both sides or of one. */
const FAULTS = ['cut', 'both', 'requests', 'answers'] as const

/** Breaks the lines for some time; new connections are refused meanwhile. */
export async function breakFor(
  lines: readonly Relay[],
  ms: number,
  random: () => number,
): Promise<void> {
  const fault = FAULTS[Math.floor(random() * FAULTS.length)] ?? 'cut'
  for (const line of lines) {
    line.block()
    if (fault === 'cut') line.cut()
    else line.silence(fault)
  }
  await pause(ms)
  for (const line of lines) {
    line.unblock()
    line.unsilence()
  }
}
