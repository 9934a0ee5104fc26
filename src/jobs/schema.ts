/** Brings BullMQ's own tables in the database up to date, at every start. */
import { PostgresConnection } from 'bullmq'

/** Statistics that are taken during a backlog can make every fetch scan the table, so they are frozen. */
const freezeStatistics = `
  analyze bullmq.job;
  alter table bullmq.job
    set (autovacuum_analyze_threshold = 2000000000, autovacuum_analyze_scale_factor = 0)`

export async function prepareSchema(connectionString: string): Promise<void> {
  const connection = new PostgresConnection({ connectionString, migrate: true, max: 1 })
  try {
    await connection.waitUntilReady()
    const { rows } = await connection.pool.query(
      `select from pg_class where oid = 'bullmq.job'::regclass and reloptions is null`,
    )
    if (rows.length > 0) await connection.pool.query(freezeStatistics)
  } finally {
    await connection.close()
  }
}
