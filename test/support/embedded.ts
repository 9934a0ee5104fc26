/** A folder for an embedded server of a test's own, and what a test asks such a server. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'

/** Outside of the checkout, and open to the account that runs Postgres when we are root. */
export function embeddedFolder(t: Pick<Test, 'teardown'>): string {
  const parent = mkdtempSync(join(tmpdir(), 'chapar-embedded-'))
  chmodSync(parent, 0o755)
  t.teardown(() => rmSync(parent, { recursive: true, force: true }))
  return join(parent, 'postgres')
}

/** One statement on a connection of its own. */
export async function ask<Row extends object>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}
