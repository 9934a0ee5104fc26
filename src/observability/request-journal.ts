/** Request records and usage counts: stored in batches off the hot path, and read back newest first. */
import { randomUUID } from 'node:crypto'
import type { Database, Queryable } from '../database/database.ts'
import { isUnavailable } from '../database/failures.ts'
import { arrayLiteral, markStored, textArray, writeInOrder } from '../database/write-behind.ts'
import { orElseAfter } from '../http/health.ts'
import { lineOf, linesOnly } from '../security/redact.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import {
  type RequestRecord,
  type UsageCounts,
  type UsageOwner,
  type UsageRow,
  UsageTally,
} from './usage.ts'

const defaults = {
  retentionDays: 30,
  /** Stores one in so many requests that worked, drawn by lot. Each counts in the usage all the same. */
  oneIn: 1,
  batchSize: 500,
  /** How many records wait at most, in memory, while the database is away. */
  capacity: 20_000,
  flushEveryMs: 1_000,
  closeWithinMs: 5_000,
}

export interface RequestJournalOptions extends Readonly<Partial<typeof defaults>> {
  readonly database: Database
  readonly metrics: Pick<Metrics, 'recordsDropped' | 'pendingRecords'>
  readonly logger: Pick<Logger, 'warn' | 'error'>
}

interface Batch {
  readonly records: readonly RequestRecord[]
  readonly usage: readonly UsageRow[]
}

export class RequestJournal {
  readonly #options: RequestJournalOptions & typeof defaults
  readonly #records: RequestRecord[] = []
  readonly #tally = new UsageTally()
  readonly #writer = randomUUID()
  #taken = 0
  /** Taken out of the tally, for the next batches. */
  #usage: UsageRow[] = []
  /** Taken out of those above and not stored yet: a retry must not count it again. */
  #batch: Batch | undefined
  /** Records that a flush still has to store. Later ones wait, or under load every batch would be a few rows. */
  #due = 0
  #isUsageDue = false
  #isRepaired = false
  #upkeepDue = 0
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined

  constructor(options: RequestJournalOptions) {
    this.#options = { ...defaults, ...options }
    options.metrics.pendingRecords(() => this.#records.length + (this.#batch?.records.length ?? 0))
    void this.flush()
  }

  /** Costs a push. A record that finds no room is dropped and counted. */
  record(request: RequestRecord): void {
    const { capacity, batchSize, metrics, oneIn } = this.#options
    this.#arm()
    // By lot: every tenth call of a client that repeats itself might always be the same method.
    if (request.errorCode === null && Math.random() * oneIn >= 1) {
      this.#tally.countRequest(request)
      return
    }
    if (this.#records.length >= capacity) {
      metrics.recordsDropped(1)
      return
    }
    // Only the push that fills a batch starts a flush: while the database is away, many more follow. Figures wait for the timer:
    // a thousand keys that call all the time would have rows in every batch.
    if (this.#records.push(request) === batchSize) void this.#flushRecords()
  }

  /** Adds to the owner's figures of the current hour. */
  count(owner: UsageOwner, counts: UsageCounts): void {
    this.#tally.count(owner, counts, Date.now())
    this.#arm()
  }

  /** Everything recorded before the call is stored, unless the database is away. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isUsageDue = true
    return this.#flushRecords()
  }

  #flushRecords(): Promise<void> {
    this.#due = this.#records.length
    this.#flushing ??= this.#drain()
      .catch((cause) => this.#recover(cause))
      .finally(() => {
        this.#flushing = undefined
        const hasMore = this.#records.length + this.#tally.size + this.#usage.length > 0
        if (this.#batch || hasMore) this.#arm()
      })
    return this.#flushing
  }

  /** The last flush; gives up after a few seconds. */
  async close(): Promise<void> {
    await orElseAfter(this.#options.closeWithinMs, this.flush(), undefined)
    clearTimeout(this.#timer)
    this.#drop(this.#batch)
    this.#due = this.#records.length
    for (let lost = this.#nextBatch(); lost; lost = this.#nextBatch()) this.#drop(lost)
  }

  #arm(): void {
    this.#timer ??= setTimeout(() => this.flush(), this.#options.flushEveryMs).unref()
  }

  async #drain(): Promise<void> {
    const { database, retentionDays } = this.#options
    if (Date.now() >= this.#upkeepDue) {
      await upkeep(database, retentionDays)
      this.#upkeepDue = Date.now() + UPKEEP_EVERY_MS
    }
    this.#batch ??= this.#nextBatch()
    for (; this.#batch; this.#batch = this.#nextBatch()) {
      await this.#store(this.#batch)
      this.#isRepaired = false
    }
  }

  #nextBatch(): Batch | undefined {
    const { batchSize } = this.#options
    const records = this.#due > 0 ? this.#records.splice(0, batchSize) : []
    for (const record of records) this.#tally.countRequest(record)
    this.#due -= batchSize
    if (this.#isUsageDue && this.#due <= 0) {
      this.#isUsageDue = false
      this.#usage = [...this.#usage, ...this.#tally.take()]
    }
    const usage = this.#usage.splice(0, batchSize)
    const count = records.length + usage.length
    this.#taken += count
    return count > 0 ? { records, usage } : undefined
  }

  async #store(batch: Batch): Promise<void> {
    const { database, logger, metrics } = this.#options
    const count = batch.records.length + batch.usage.length
    const { settled, cause } = await writeInOrder({
      count,
      most: count,
      write: (from, to) =>
        database.transaction(async (tx) => {
          const mark = { writer: this.#writer, before: this.#taken - count + from }
          const stored = await markStored(tx, mark, to - from)
          const { records, usage } = partOf(batch, from + stored, to)
          if (records.length > 0) await storeRequests(tx, records)
          if (usage.length > 0) await storeUsage(tx, usage)
        }),
      refused(place, err) {
        logger.error({ err }, 'dropped a row of the request log')
        if (place < batch.records.length) metrics.recordsDropped(1)
      },
    })
    if (settled === count) return
    this.#batch = partOf(batch, settled, count)
    throw cause
  }

  /** Waits for a database that is away. Any other error may be a missing partition; a second one is the batch's own. */
  #recover(error: unknown): void {
    const { logger } = this.#options
    if (isUnavailable(error)) {
      logger.warn({ err: error }, 'the request log waits for the database')
      return
    }
    this.#upkeepDue = 0
    this.#isRepaired = !this.#isRepaired
    if (this.#isRepaired) {
      logger.warn({ err: error }, 'the request log could not be written, trying once more')
      return
    }
    logger.error({ err: error }, 'dropped a request log batch')
    this.#drop(this.#batch)
    this.#batch = undefined
  }

  #drop(lost: Batch | undefined): void {
    if (lost) this.#options.metrics.recordsDropped(Math.max(1, lost.records.length))
  }
}

/** Records stand before figures. */
const partOf = ({ records, usage }: Batch, from: number, to: number): Batch => ({
  records: records.slice(from, to),
  usage: usage.slice(Math.max(0, from - records.length), Math.max(0, to - records.length)),
})

export interface StoredRequest {
  readonly id: number
  readonly at: Date
  readonly request_id: string
  readonly api_key_id: number | null
  readonly credential_id: number | null
  readonly method: string
  readonly status: number
  readonly error_code: number | null
  readonly description: string | null
  readonly duration_ms: number
  readonly request_bytes: number
  readonly response_bytes: number
  readonly ip: string
  readonly user_agent: string | null
}

interface RequestFilter {
  readonly userId: number
  readonly apiKeyId?: number | undefined
  readonly credentialId?: number | undefined
  readonly errorCode?: number | undefined
  /** The first digit of the answer's status. */
  readonly status?: '2xx' | '4xx' | '5xx' | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** These two look at so many requests at most, see `SEARCHED`. */
  readonly method?: string | undefined
  readonly requestId?: string | undefined
  /** Only what is older; `at` in milliseconds since 1970. */
  readonly before?: FoundRequests['reached']
  /** Only these. */
  readonly among?: { readonly at: readonly Date[]; readonly ids: readonly string[] } | undefined
  readonly limit: number
}

interface FoundRequests {
  readonly requests: StoredRequest[]
  /** The last request that was looked at, if older ones were not: the search goes on from there. */
  readonly reached: { readonly at: number; readonly id: number } | undefined
}

/** The requests that one search by method or id looks at: there is no index for these. */
const SEARCHED = 10_000

/** Only the conditions that apply are in the text: the planner then picks the index made for them. */
function conditionsOf(filter: RequestFilter, value: (given: unknown) => string): string {
  const { status, since, until, before, among } = filter
  const conditions = [`user_id = ${value(filter.userId)}`]
  if (among)
    conditions.push(`at = any(${value(among.at)})`, `request_id = any(${value(among.ids)})`)
  if (filter.apiKeyId !== undefined) conditions.push(`api_key_id = ${value(filter.apiKeyId)}`)
  if (filter.credentialId !== undefined) {
    conditions.push(`credential_id = ${value(filter.credentialId)}`)
  }
  if (filter.errorCode !== undefined) {
    // Named once more, since the index on failures is on these alone.
    conditions.push(`error_code = ${value(filter.errorCode)}`, 'error_code is not null')
  }
  if (status === '2xx') conditions.push('error_code is null')
  else if (status) {
    const first = value(Number(status[0]) * 100)
    conditions.push(`error_code is not null and error_code between ${first}::int and ${first} + 99`)
  }
  if (since) conditions.push(`at >= ${value(since)}`)
  if (until) conditions.push(`at <= ${value(until)}`)
  if (before) {
    const at = `to_timestamp(${value(before.at)}::float8 / 1000)`
    // The first condition alone rules out partitions.
    conditions.push(`at <= ${at}`, `(at, id) < (${at}, ${value(before.id)}::bigint)`)
  }
  return conditions.join(' and ')
}

const newestFirst = 'order by at desc, id desc'

/** Newest first. */
export async function listRequests(
  database: Queryable,
  filter: RequestFilter,
): Promise<FoundRequests> {
  const values: unknown[] = []
  const value = (given: unknown) => `$${values.push(given)}`
  const wanted = conditionsOf(filter, value)
  const common = [...values]
  const { method, requestId, limit } = filter
  const sought = [
    ...(method === undefined ? [] : [`method = ${value(method)}`]),
    ...(requestId === undefined ? [] : [`request_id = ${value(requestId)}`]),
  ].join(' and ')
  const among = `select id, at, request_id, api_key_id, credential_id, method, status, error_code,
      description, duration_ms, request_bytes, response_bytes, ip, user_agent
    from request_log where ${wanted} ${newestFirst}`
  const requests = await database.query<StoredRequest>(
    sought
      ? `with looked as materialized (${among} limit ${SEARCHED})
         select * from looked where ${sought} ${newestFirst} limit ${value(limit)}`
      : `${among} limit ${value(limit)}`,
    values,
  )
  if (!sought || requests.length === limit) return { requests, reached: undefined }
  const [last] = await database.query<{ id: number; at: Date }>(
    `select id, at from request_log where ${wanted} ${newestFirst} offset ${SEARCHED - 1} limit 1`,
    common,
  )
  return { requests, reached: last && { at: last.at.getTime(), id: last.id } }
}

/** Partitions are made two days ahead, so an upkeep that is late does no harm. */
const UPKEEP_EVERY_MS = 3_600_000

/** Makes partitions ahead of time and deletes those that are too old. */
export async function upkeep(database: Queryable, retentionDays: number): Promise<void> {
  await database.query('select request_log_upkeep(make_interval(days => $1))', [retentionDays])
}

/** A call may end after the erasure of its user: the erasure flushes this journal, and what comes later is not stored. */
const isKept = `user_id is null
  or exists (select from app_user where app_user.id = user_id and erasing_at is null)`

const columns = `request_id, user_id, api_key_id, credential_id, method, status, error_code,
  description, reason, duration_ms, request_bytes, response_bytes, ip, user_agent`

const insertRequests = {
  name: 'store_requests',
  text: `
    insert into request_log (at, params, ${columns})
    select to_timestamp(at_ms / 1000), params::jsonb, ${columns}
    from unnest($1::float8[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
      $7::text[], $8::smallint[], $9::smallint[], $10::text[], $11::text[], $12::real[],
      $13::bigint[], $14::bigint[], $15::text[], $16::text[]) as record(at_ms, params, ${columns})
    where ${isKept}`,
}

/** Stores a batch of request records in one statement. */
async function storeRequests(tx: Queryable, records: readonly RequestRecord[]): Promise<void> {
  // A few clients send most of a batch.
  const given = new Set(records.map(({ userAgent }) => userAgent))
  const agents = new Map([...given].map((agent) => [agent, lineOf(agent)]))
  await tx.query(insertRequests, [
    arrayLiteral(records.map((record) => record.at)),
    textArray(records.map((record) => record.params && JSON.stringify(record.params, linesOnly))),
    textArray(records.map((record) => record.requestId)),
    arrayLiteral(records.map((record) => record.userId)),
    arrayLiteral(records.map((record) => record.apiKeyId)),
    arrayLiteral(records.map((record) => record.credentialId)),
    textArray(records.map((record) => record.method)),
    arrayLiteral(records.map((record) => record.status)),
    arrayLiteral(records.map((record) => record.errorCode)),
    textArray(records.map((record) => lineOf(record.description))),
    textArray(records.map((record) => record.reason)),
    arrayLiteral(records.map((record) => record.durationMs)),
    arrayLiteral(records.map((record) => record.requestBytes)),
    arrayLiteral(records.map((record) => record.responseBytes)),
    textArray(records.map((record) => record.ip)),
    textArray(records.map((record) => agents.get(record.userAgent))),
  ])
}

/**
 * The figures and the totals of their users in one statement: none is counted without the other. Sorted, since two nodes
 * that add to the same rows in different orders would block each other.
 */
const addUsage = {
  name: 'store_usage',
  text: `
    with kept as materialized (
      select user_id, to_timestamp(hour_ms / 1000) as hour, credential_id, api_key_id, measure, label,
        amount
      from unnest($1::bigint[], $2::float8[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
        $7::bigint[]) as tally(user_id, hour_ms, credential_id, api_key_id, measure, label, amount)
      where ${isKept}
    ), totals as (
      insert into usage_total (user_id, hour, measure, label, amount)
      select user_id, hour, measure, label, sum(amount) from kept
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (user_id, hour, measure, label)
      do update set amount = usage_total.amount + excluded.amount
    )
    insert into usage_hour (user_id, hour, credential_id, api_key_id, measure, label, amount)
    select user_id, hour, credential_id, api_key_id, measure, label, sum(amount) from kept
    group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
    on conflict (user_id, hour, credential_id, api_key_id, measure, label)
    do update set amount = usage_hour.amount + excluded.amount`,
}

/** Adds a batch of usage figures to those of accounts, keys and users. One figure may be there twice, from two batches of records. */
async function storeUsage(tx: Queryable, rows: readonly UsageRow[]): Promise<void> {
  await tx.query(addUsage, [
    arrayLiteral(rows.map((row) => row.userId)),
    arrayLiteral(rows.map((row) => row.hour)),
    arrayLiteral(rows.map((row) => row.credentialId)),
    arrayLiteral(rows.map((row) => row.apiKeyId)),
    textArray(rows.map((row) => row.measure)),
    textArray(rows.map((row) => row.label)),
    arrayLiteral(rows.map((row) => row.amount)),
  ])
}
