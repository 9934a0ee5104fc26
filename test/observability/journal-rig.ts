/** A request journal on a database of its own, and records to feed it. */
import type { Test } from 'tap'
import type { Database } from '../../src/database/database.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import {
  RequestJournal,
  type RequestJournalOptions,
} from '../../src/observability/request-journal.ts'
import type { RequestRecord } from '../../src/observability/usage.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'

export async function journalRig(
  t: Pick<Test, 'teardown'>,
  options: Partial<RequestJournalOptions> = {},
) {
  const { database } = await testDatabase(t)
  // The users of the records: a call of anybody else is not kept.
  await database.query(`insert into app_user (phone_index, phone_sealed)
    select n::text::bytea, '' from generate_series(1, 50) n`)
  return { database, ...journalOn(t, database, options) }
}

export function journalOn(
  t: Pick<Test, 'teardown'>,
  database: Database,
  options: Partial<RequestJournalOptions> = {},
) {
  const metrics = createMetrics()
  const journal = new RequestJournal({ database, metrics, logger: quietLogger, ...options })
  t.teardown(() => journal.close())
  const dropped = async () =>
    Number(/dropped_total (\d+)/.exec(await metrics.text())?.[1] ?? Number.NaN)
  return { journal, metrics, dropped }
}

export const requestRecord = (more: Partial<RequestRecord> = {}): RequestRecord => ({
  at: Date.now(),
  requestId: 'request',
  userId: 1,
  apiKeyId: 100_001,
  credentialId: 10,
  method: 'sendMessage',
  status: 200,
  errorCode: null,
  description: null,
  reason: null,
  params: null,
  durationMs: 1.5,
  requestBytes: 10,
  responseBytes: 20,
  ip: '127.0.0.1',
  userAgent: 'test',
  ...more,
})
