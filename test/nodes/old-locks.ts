/** A server of databases that has run for so long that a node may judge others by their locks. */
import { SERVER_MS } from '../../src/nodes/table.ts'
import { until } from '../support/client.ts'
import type { TestDatabase } from '../support/database.ts'

const LOCKS_COUNT_AFTER_MS = 10_000

/** Waits where the server of the tests has only just begun. */
export async function untilLocksCount({ database }: TestDatabase): Promise<void> {
  await until(async () => {
    const [server] = await database.query<{ ms: number }>(`select ${SERVER_MS} as ms`)
    return (server?.ms ?? 0) > LOCKS_COUNT_AFTER_MS
  })
}
