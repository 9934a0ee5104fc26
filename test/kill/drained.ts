/** The quiet after the kills: everything acknowledged, and everything in the log read. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../support/client.ts'
import type { Stage } from './stage.ts'

const DRAINS_MS = 60_000
/** Longer than such a service takes. */
const QUIET_MS = 1_200

/** The log no longer grows either: a service that acknowledges early may be storing still. */
export async function drained(stage: Stage): Promise<void> {
  const { spool, consumers } = stage
  await until(() => spool.acknowledged === spool.written, DRAINS_MS)
  let before = -1
  await until(async () => {
    const { ends, updates } = await stored(stage)
    const isQuiet = updates === before
    before = updates
    if (isQuiet && ends.every((end, index) => consumers[index]?.last === end)) return true
    await pause(QUIET_MS)
    return false
  }, DRAINS_MS)
}

interface Stored {
  readonly updates: number
  /** Different ones. */
  readonly events: number
  /** The newest update id of each account. */
  readonly ends: readonly number[]
}

/** What the log itself says. */
export async function stored({ postgres }: Stage): Promise<Stored> {
  const client = new pg.Client({ connectionString: postgres.url() })
  await client.connect()
  try {
    const { rows } = await client.query(
      `select count(*)::int as updates, count(distinct source_key)::int as events,
              max(update_id)::int as last
         from update_log group by credential_id order by credential_id`,
    )
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
    return {
      updates: sum(rows.map(({ updates }) => updates)),
      events: sum(rows.map(({ events }) => events)),
      ends: rows.map(({ last }) => last),
    }
  } finally {
    await client.end()
  }
}
