/** One transaction on one pooled connection, which is given back clean or not at all. */
import type pg from 'pg'

/** Closing the connection rolls back as well, so there is no reason to wait long. */
const rollback = { text: 'rollback', query_timeout: 1_000 }

async function abandon(client: pg.PoolClient): Promise<void> {
  try {
    await client.query(rollback)
    client.release()
  } catch {
    // The caller gets the error that led here; this one only says that the connection is bad.
    client.release(true)
  }
}

export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    client.release()
    return result
  } catch (error) {
    await abandon(client)
    throw error
  }
}
