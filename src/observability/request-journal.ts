/** Takes request records and usage counts off the hot path and stores them in batches. */
import type { Database } from '../database/database.ts'
import { isUnavailable } from '../database/unavailable.ts'
import { within } from '../http/health.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { RequestRecord } from './request-record.ts'
import { storeRequests } from './store-requests.ts'
import { storeUsage } from './store-usage.ts'
import { upkeep, upkeepEveryMs } from './upkeep.ts'
import {
  createUsageTally,
  type UsageCounts,
  type UsageOwner,
  type UsageRow,
} from './usage-tally.ts'

export interface RequestJournal {
  /** Costs a push. A record that finds no room is dropped and counted. */
  record(request: RequestRecord): void
  /** Adds to the owner's figures of the current hour. */
  count(owner: UsageOwner, counts: UsageCounts): void
  /** Everything recorded before the call is stored, unless the database is away. */
  flush(): Promise<void>
  /** The last flush; gives up after a few seconds. */
  close(): Promise<void>
}

export interface RequestJournalOptions {
  readonly database: Database
  readonly metrics: Pick<Metrics, 'recordsDropped' | 'pendingRecords'>
  readonly log: Pick<Logger, 'warn' | 'error'>
  readonly retentionDays?: number
  readonly batchSize?: number
  /** How many records wait at most, in memory, while the database is away. */
  readonly capacity?: number
  readonly flushEveryMs?: number
  readonly closeWithinMs?: number
}

interface Batch {
  readonly records: readonly RequestRecord[]
  readonly usage: readonly UsageRow[]
}

export function openRequestJournal({
  database,
  metrics,
  log,
  retentionDays = 30,
  batchSize = 500,
  capacity = 20_000,
  flushEveryMs = 1_000,
  closeWithinMs = 5_000,
}: RequestJournalOptions): RequestJournal {
  const records: RequestRecord[] = []
  const tally = createUsageTally()
  /** Taken out of the two above and not stored yet: a retry must not count it again. */
  let batch: Batch | undefined
  /** Records that a flush still has to store. Later ones wait, or under load every batch would be a few rows. */
  let due = 0
  let isRepaired = false
  let upkeepDue = 0
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined

  metrics.pendingRecords(() => records.length + (batch?.records.length ?? 0))

  function nextBatch(): Batch | undefined {
    if (due <= 0 || (records.length === 0 && tally.size === 0)) return undefined
    due -= batchSize
    const taken = records.splice(0, batchSize)
    for (const record of taken) tally.countRequest(record)
    return { records: taken, usage: tally.take() }
  }

  async function store({ records, usage }: Batch): Promise<void> {
    await database.transaction(async (tx) => {
      if (records.length > 0) await storeRequests(tx, records)
      if (usage.length > 0) await storeUsage(tx, usage)
    })
  }

  async function drain(): Promise<void> {
    if (Date.now() >= upkeepDue) {
      await upkeep(database, retentionDays)
      upkeepDue = Date.now() + upkeepEveryMs
    }
    for (batch ??= nextBatch(); batch; batch = nextBatch()) {
      await store(batch)
      isRepaired = false
    }
  }

  /** An absent database is waited for. Anything else may be a missing partition, and else is the batch's own fault. */
  function recover(error: unknown): void {
    if (isUnavailable(error)) {
      log.warn({ err: error }, 'the request log waits for the database')
      return
    }
    upkeepDue = 0
    if (!isRepaired) {
      log.warn({ err: error }, 'the request log could not be written, trying once more')
      isRepaired = true
      return
    }
    log.error({ err: error, records: batch?.records.length ?? 0 }, 'dropped a request log batch')
    drop(batch)
    batch = undefined
    isRepaired = false
  }

  function drop(lost: Batch | undefined): void {
    if (lost) metrics.recordsDropped(Math.max(1, lost.records.length))
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    // There may be figures without a record.
    due = Math.max(1, records.length)
    flushing ??= drain()
      .catch(recover)
      .finally(() => {
        flushing = undefined
        if (batch || records.length > 0 || tally.size > 0) arm()
      })
    return flushing
  }

  function arm(): void {
    timer ??= setTimeout(flush, flushEveryMs).unref()
  }

  void flush()

  return {
    record(request) {
      if (records.length >= capacity) {
        metrics.recordsDropped(1)
        return
      }
      // Only the push that fills a batch starts a flush: behind an absent database there are many more.
      if (records.push(request) === batchSize) void flush()
      else arm()
    },
    count(owner, counts) {
      tally.count(owner, counts, Date.now())
      arm()
    },
    flush,
    async close() {
      await within(closeWithinMs, flush(), undefined)
      clearTimeout(timer)
      drop(batch)
      due = records.length
      for (let lost = nextBatch(); lost; lost = nextBatch()) drop(lost)
    },
  }
}
