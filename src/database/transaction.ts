/** One transaction on one pooled connection, which is given back clean or not at all. */
import type pg from 'pg'

/** Closing the connection rolls back as well, so there is no reason to wait long. */
const rollback = { text: 'rollback', query_timeout: 1_000 }

/** Between two statements a lost connection has nobody to tell; the next statement fails of it. */
const lostBetweenStatements = () => undefined

async function borrow(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect()
  client.on('error', lostBetweenStatements)
  return client
}

function giveBack(client: pg.PoolClient): void {
  client.off('error', lostBetweenStatements)
  client.release()
}

async function abandon(client: pg.PoolClient): Promise<void> {
  try {
    await client.query(rollback)
    giveBack(client)
  } catch {
    // The caller gets the error that led here; this one only says that the connection is bad.
    client.release(true)
  }
}

export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await borrow(pool)
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    giveBack(client)
    return result
  } catch (error) {
    await abandon(client)
    throw error
  }
}
