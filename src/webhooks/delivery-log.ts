/** The log of webhook attempts: written with a delay, read by their owners, deleted after some days. */

import { randomUUID } from 'node:crypto'
import type { Logger } from '../../actors/ports/ports.ts'
import type { AttemptRecord, WebhookKey } from '../../actors/ports/webhooks.ts'
import { kindNumber } from '../../machines/model/update-kinds.ts'
import type { Database, Queryable } from '../database/database.ts'
import {
  arrayLiteral,
  Flusher,
  type Mark,
  marked,
  refusal,
  textArray,
  type WrittenRows,
  writeInOrder,
} from '../database/write-behind.ts'
import { updateJson } from '../updates/row.ts'

export interface StoredDelivery {
  readonly id: number
  readonly at: Date
  readonly api_key_id: number
  readonly update_id: number
  readonly attempt: number
  readonly url: string
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
  readonly next_attempt_at: Date | null
  readonly trace_id: string | null
  /** A later attempt, which has delivered the update after this one failed. */
  readonly delivered_at: Date | null
  /** From here on facts about the update: null once it is no longer stored. The chat is also null if there is none. */
  readonly kind: string | null
  readonly chat_id: number | null
  readonly update_at: Date | null
  /** The key whose call caused it. */
  readonly cause_api_key_id: number | null
  readonly chat_name: string | null
  /** The first words of its text. */
  readonly excerpt: string | null
}

interface Row extends Omit<StoredDelivery, 'chat_name' | 'excerpt'> {
  /** Null if it is long. */
  readonly payload: string | null
}

/** The first digit of the answer's status; `none`: there was no answer. */
export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const

interface DeliveryFilter {
  readonly userId: number
  readonly apiKeyId?: number | undefined
  readonly updateId?: number | undefined
  readonly outcome?: 'delivered' | 'failed' | undefined
  readonly status?: (typeof STATUS_CLASSES)[number] | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** These three filter by the update, and search a limited number of attempts; see `SEARCHED`. */
  readonly kind?: string | undefined
  readonly chatId?: number | undefined
  readonly text?: string | undefined
  /** The request that caused the update: searched like these. */
  readonly traceId?: string | undefined
  /** Only what is older; `at` in milliseconds since 1970. */
  readonly before?: Position | undefined
  readonly limit: number
}

interface Position {
  readonly at: number
  readonly id: number
}

interface FoundDeliveries {
  readonly deliveries: StoredDelivery[]
  /** The last attempt that was looked at, if older ones were not: the search goes on from there. */
  readonly reached: Position | undefined
}

/** The attempts that one search by what the updates contain looks at. */
const SEARCHED = 10_000

type Value = (given: unknown) => string

/** Only the conditions that apply are in the text: the planner then picks the index made for them. */
function conditionsOf(filter: DeliveryFilter, value: Value): string {
  const { apiKeyId, updateId, outcome, status, since, until, before } = filter
  const conditions = [`user_id = ${value(filter.userId)}`]
  if (apiKeyId !== undefined) conditions.push(`api_key_id = ${value(apiKeyId)}`)
  if (updateId !== undefined) conditions.push(`update_id = ${value(updateId)}`)
  if (outcome) conditions.push(`error is ${outcome === 'failed' ? 'not ' : ''}null`)
  // Every other answer is an error, and so is none.
  if (status === '2xx') conditions.push('error is null')
  else if (status === 'none') conditions.push('error is not null', 'status is null')
  else if (status) {
    const first = value(Number(status[0]) * 100)
    conditions.push('error is not null', `status between ${first}::int and ${first}::int + 99`)
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

/** Its conditions on the update, which is looked up for each attempt. */
function contentOf({ kind, chatId, text, traceId }: DeliveryFilter, value: Value): string {
  const conditions: string[] = []
  if (kind !== undefined) {
    conditions.push(`u.kind = ${value(kindNumber(kind))}`, `${KIND} = ${value(kind)}`)
  }
  if (chatId !== undefined) conditions.push(`u.chat_id = ${value(chatId)}`)
  if (traceId !== undefined) conditions.push(`l.trace_id = ${value(traceId)}`)
  // As it stands in JSON.
  const sought = text && JSON.stringify(text).slice(1, -1).toLowerCase()
  if (sought) conditions.push(`strpos(lower(u.payload), ${value(sought)}) > 0`)
  return conditions.join(' and ')
}

/** The name of an update's kind is the first word of what is stored. */
const KIND = `substring(u.payload from '^"(\\w+)"')`

/** Characters: a list shows no excerpt of longer updates. */
const LOOKED_INTO = 16_384
const EXCERPT = 80

interface About {
  readonly chat?: Readonly<Record<string, unknown>> | null
  readonly message?: About | null
  readonly [name: string]: unknown
}

function subjectOf(payload: string | null): Pick<StoredDelivery, 'chat_name' | 'excerpt'> {
  const about = payload === null ? {} : aboutOf(payload)
  const { title, first_name, last_name, username } = about.chat ?? about.message?.chat ?? {}
  const names = [title, lineOf([[first_name, last_name].filter(isText).join(' ')]), username]
  const texts = [about.text, about.caption, about.data, about.query]
  return { chat_name: lineOf(names), excerpt: lineOf(texts) }
}

/** Another server may have written it, in any form. */
function aboutOf(payload: string): About {
  try {
    const { update_id: _, ...members } = JSON.parse(updateJson({ updateId: 0, payload }))
    return Object.values<About | null>(members)[0] ?? {}
  } catch {
    return {}
  }
}

const isText = (one: unknown): one is string => typeof one === 'string'

/** The beginning of the first that has words, on one line. */
function lineOf(texts: readonly unknown[]): string | null {
  for (const text of texts.filter(isText)) {
    const line = text.replace(/\s+/g, ' ').trim()
    const letters = [...line.slice(0, 4 * EXCERPT)]
    if (letters.length > EXCERPT) return `${letters.slice(0, EXCERPT).join('')}…`
    if (line !== '') return line
  }
  return null
}

const newestFirst = 'order by at desc, id desc'

/** Newest first. */
export async function listDeliveries(
  database: Queryable,
  filter: DeliveryFilter,
): Promise<FoundDeliveries> {
  const values: unknown[] = []
  const value = (given: unknown) => `$${values.push(given)}`
  const wanted = conditionsOf(filter, value)
  const common = [...values]
  const content = contentOf(filter, value)
  const rows = await database.query<Row>(
    `with looked as materialized (
       select id, at, api_key_id, update_id, attempt, url, status, error, duration_ms,
         next_attempt_at, trace_id
       from webhook_delivery where ${wanted}
       ${newestFirst} limit ${content ? SEARCHED : value(filter.limit)}),
     found as materialized (
       select l.*, ${KIND} as kind, u.chat_id, u.at as update_at, u.api_key_id as cause, u.payload
         from looked l
         left join api_key k on k.id = l.api_key_id
         left join update_log u on u.credential_id = k.credential_id and u.update_id = l.update_id
         ${content && `where ${content}`} ${newestFirst} limit ${value(filter.limit)})
     select f.id, f.at, f.api_key_id, f.update_id, f.attempt, f.url, f.status, f.error, f.duration_ms,
       f.next_attempt_at, f.trace_id, f.kind, f.chat_id, f.update_at,
       (select id from api_key where id = f.cause and user_id = $1) as cause_api_key_id,
       case when f.error is not null then (
         select min(d.at) from webhook_delivery d
          where d.user_id = $1 and d.update_id = f.update_id and d.api_key_id = f.api_key_id
            and d.at >= f.at and (d.at, d.id) > (f.at, f.id) and d.error is null) end as delivered_at,
       case when length(f.payload) <= ${LOOKED_INTO} then f.payload end as payload
     from found f ${newestFirst}`,
    values,
  )
  const deliveries = rows.map(({ payload, ...row }) => ({ ...row, ...subjectOf(payload) }))
  if (!content || deliveries.length === filter.limit) return { deliveries, reached: undefined }
  const [last] = await database.query<{ id: number; at: Date }>(
    `select id, at from webhook_delivery where ${wanted} ${newestFirst} offset ${SEARCHED - 1} limit 1`,
    common,
  )
  return { deliveries, reached: last && { at: last.at.getTime(), id: last.id } }
}

/** The endpoint of an attempt; all attempts at one endpoint share one object. */
export interface DeliveryPlace {
  readonly key: WebhookKey
  /** The address as its owner may see it, without secrets. */
  readonly url: string
}

type Logged = Omit<AttemptRecord, 'ok' | 'retryAfterMs' | 'isRepeated'> & {
  readonly place: DeliveryPlace
}

/**
 * Attempts that wait to be written, by columns: thousands wait at once, and the collector would move an object for each of
 * them twice.
 */
type Columns = { readonly [Name in keyof Logged]: Logged[Name][] }

const noAttempts = (): Columns => ({
  place: [],
  at: [],
  updateId: [],
  attempt: [],
  status: [],
  error: [],
  durationMs: [],
  nextAttemptAt: [],
  traceId: [],
})

/** Applies `change` to each column. */
const mapColumns = (
  columns: Columns,
  change: (column: readonly unknown[], name: keyof Columns) => unknown[],
): Columns =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, change(column, name as keyof Columns)]),
  ) as Columns

const ROWS = 'webhook attempts'
const LAG_MS = 500
/** Attempts that are kept while the database is away; beyond it the oldest are lost. */
const CAPACITY = 50_000
const AT_ONCE = 2_000
const UPKEEP_MS = 3_600_000

export class DeliveryLog {
  readonly #db: Database
  readonly #days: number
  readonly #logger: Logger
  readonly #flusher = new Flusher(LAG_MS, () => this.#write())
  readonly #oneIn: number
  readonly #writer = randomUUID()
  #waiting = noAttempts()
  #added = 0
  #upkeepDue = 0

  /** Logs one in `oneIn` first attempts that worked, drawn by lot; failures and what came of them always. */
  constructor(db: Database, logger: Logger, days: number, oneIn = 1) {
    this.#db = db
    this.#logger = logger
    this.#days = days
    this.#oneIn = oneIn
  }

  add(place: DeliveryPlace, attempt: AttemptRecord): void {
    const isOrdinary = attempt.ok && attempt.attempt === 1 && !attempt.isRepeated
    if (isOrdinary && Math.random() * this.#oneIn >= 1) return
    const waiting = this.#waiting
    waiting.place.push(place)
    waiting.at.push(attempt.at)
    waiting.updateId.push(attempt.updateId)
    waiting.attempt.push(attempt.attempt)
    waiting.status.push(attempt.status)
    waiting.error.push(attempt.error)
    waiting.durationMs.push(Math.round(100 * attempt.durationMs) / 100)
    waiting.nextAttemptAt.push(attempt.nextAttemptAt)
    waiting.traceId.push(attempt.traceId)
    this.#added++
    this.#flusher.schedule()
  }

  flush(): Promise<void> {
    return this.#flusher.flush()
  }

  async #write(): Promise<void> {
    const attempts = this.#waiting
    if (attempts.at.length === 0) return
    const before = this.#added - attempts.at.length
    this.#waiting = noAttempts()
    const { settled, cause } = await this.#insert(attempts, before)
    if (settled === attempts.at.length) return
    // Attempts that were written before the failure are left out, or they would be listed twice.
    const later = this.#waiting
    this.#waiting = mapColumns(attempts, (column, name) =>
      [...column.slice(settled), ...later[name]].slice(-CAPACITY),
    )
    this.#upkeepDue = 0
    const kept = this.#waiting.at.length
    this.#logger.warn({ err: cause, kept }, `${ROWS} could not be written`)
    throw cause
  }

  async #insert(attempts: Columns, before: number): Promise<WrittenRows> {
    const leftOut = refusal({ rows: ROWS, logger: this.#logger })
    return writeInOrder({
      count: attempts.at.length,
      most: AT_ONCE,
      write: async (from, to) => {
        await this.#upkeep()
        await insert(
          this.#db,
          mapColumns(attempts, (column) => column.slice(from, to)),
          { writer: this.#writer, before: before + from },
        )
      },
      refused: (_, refused) => leftOut(refused),
    })
  }

  async #upkeep(): Promise<void> {
    if (Date.now() < this.#upkeepDue) return
    const days = [this.#days]
    await this.#db.query('select webhook_delivery_upkeep(make_interval(days => $1))', days)
    this.#upkeepDue = Date.now() + UPKEEP_MS
  }
}

/**
 * Keeps the order: a later attempt within the same millisecond has the higher id. What a failed write has kept until its
 * user was erased is not stored.
 */
const statement = {
  name: 'webhook-deliveries',
  text: `with ${marked('$13', '$14::bigint + cardinality($1::int[])')}
         insert into webhook_delivery (at, user_id, api_key_id, update_id, attempt, url, status,
           error, duration_ms, next_attempt_at, trace_id)
         select to_timestamp(d.at / 1000), p.user_id, p.api_key_id, d.update_id, d.attempt, p.url,
           d.status, d.error, d.duration_ms, to_timestamp(d.next / 1000), d.trace_id
         from unnest($1::int[], $2::float8[], $3::bigint[], $4::int[], $5::smallint[], $6::text[],
           $7::real[], $8::float8[], $9::text[]) with ordinality
           as d (place, at, update_id, attempt, status, error, duration_ms, next, trace_id, n)
         join unnest($10::bigint[], $11::bigint[], $12::text[]) with ordinality
           as p (user_id, api_key_id, url, n) on p.n = d.place
         where exists (select from app_user where id = p.user_id and erasing_at is null)
           and $14::bigint + d.n > (select before from mark)
         order by d.n`,
}

async function insert(db: Database, attempts: Columns, { writer, before }: Mark): Promise<void> {
  const numbers = new Map<DeliveryPlace, number>()
  for (const place of attempts.place) {
    if (!numbers.has(place)) numbers.set(place, numbers.size + 1)
  }
  const places = [...numbers.keys()]
  await db.query(statement, [
    arrayLiteral(attempts.place.map((place) => numbers.get(place))),
    arrayLiteral(attempts.at),
    arrayLiteral(attempts.updateId),
    arrayLiteral(attempts.attempt),
    arrayLiteral(attempts.status),
    textArray(attempts.error),
    arrayLiteral(attempts.durationMs),
    arrayLiteral(attempts.nextAttemptAt),
    textArray(attempts.traceId),
    arrayLiteral(places.map(({ key }) => key.userId)),
    arrayLiteral(places.map(({ key }) => key.apiKeyId)),
    textArray(places.map(({ url }) => url)),
    writer,
    before,
  ])
}
