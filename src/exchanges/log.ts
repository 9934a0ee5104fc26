/** Requests and answers of webhook attempts: bounded, without secrets, sealed, and deleted after some days. */

import { promisify } from 'node:util'
import { gunzip, inflate } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Keeps, Logger } from '../../actors/ports/ports.ts'
import type { AttemptRecord, WebhookExchange, WebhookKey } from '../../actors/ports/webhooks.ts'
import { failed } from '../../machines/model/failure.ts'
import { noteIn } from '../audit/log.ts'
import type { Database } from '../database/database.ts'
import { ApiKey, forUpdate } from '../database/entities.ts'
import { type Mark, marked, WriteBuffer } from '../database/write-behind.ts'
import { redact } from '../security/redact.ts'
import { ifReadable, type Vault } from '../security/vault.ts'

/** One side of an attempt as its owner sees it. */
interface Side {
  readonly headers: [name: string, value: string][]
  readonly body: string
  /** The body was longer than what is kept. */
  readonly is_cut: boolean
}

interface StoredExchange {
  readonly at: Date
  readonly update_id: number
  readonly attempt: number
  readonly request: Side
  /** Null if there was no answer. */
  readonly response: Side | null
}

interface Entry {
  readonly key: WebhookKey
  readonly attempt: AttemptRecord
  readonly exchange: WebhookExchange
}

/** Characters of a body that are kept. */
const BODY_LENGTH = 16_384
const LONGEST_SECRET = 512
const HEADERS = 50
const HEADER_LENGTH = 1_024
const LAG_MS = 500
/** Exchanges that wait to be written; beyond it new ones are not kept. */
const CAPACITY = 1_000
const UPKEEP_MS = 3_600_000
/** How long a key's choice is believed. A change has its effect with the first attempt after that, within a second. */
const CHOICE_MS = 5_000

interface KnownChoice {
  readonly choice: Keeps
  askedAt: number
}

interface ExchangeLogOptions {
  readonly db: Database
  readonly vault: Vault
  readonly logger: Logger
  readonly days: number
}

export class ExchangeLog {
  readonly #options: ExchangeLogOptions
  readonly #buffer: WriteBuffer<Entry>
  readonly #choices = new LRUCache<number, KnownChoice>({
    maxSize: 20_000,
    sizeCalculation: () => 1,
  })
  #upkeepDue = 0

  constructor(options: ExchangeLogOptions) {
    this.#options = options
    this.#buffer = new WriteBuffer<Entry>({
      everyMs: LAG_MS,
      capacity: CAPACITY,
      write: (entries, mark) => this.#write(entries, mark),
      rows: 'exchanges with webhooks',
      logger: options.logger,
      onFailure: () => {
        this.#upkeepDue = 0
      },
    })
  }

  /** False if the key's owner has chosen otherwise; the choice is read again before anything is stored. */
  mayKeep(apiKeyId: number, isGood: boolean): boolean {
    const known = this.#choices.get(apiKeyId)
    if (!known) return true
    const now = Date.now()
    if (now < known.askedAt + CHOICE_MS) return keeps(known.choice, isGood)
    return true
  }

  add(key: WebhookKey, attempt: AttemptRecord, exchange: WebhookExchange): void {
    if (this.#buffer.size >= CAPACITY) return
    const known = this.#choices.get(key.apiKeyId)
    // It alone has the choice read again: keeping all attempts until then would cost more than the reading.
    if (known) known.askedAt = Date.now()
    this.#buffer.add({ key, attempt, exchange })
  }

  flush(): Promise<void> {
    return this.#buffer.flush()
  }

  async #write(entries: readonly Entry[], { writer, before }: Mark): Promise<void> {
    const { db, days } = this.#options
    if (Date.now() >= this.#upkeepDue) {
      await db.query('select webhook_exchange_upkeep(make_interval(days => $1))', [days])
      this.#upkeepDue = Date.now() + UPKEEP_MS
    }
    const choices = await this.#load([...new Set(entries.map(({ key }) => key.apiKeyId))])
    const kept = entries
      .map((entry, place) => ({ ...entry, number: before + place + 1 }))
      .filter(({ key, attempt }) => keeps(choices.get(key.apiKeyId) ?? 'none', attempt.ok))
    if (kept.length === 0) return
    const sealed = await Promise.all(kept.map((entry) => this.#seal(entry)))
    await db.query(insertion, [
      kept.map(({ attempt }) => attempt.at),
      kept.map(({ key }) => key.userId),
      kept.map(({ key }) => key.apiKeyId),
      kept.map(({ attempt }) => attempt.updateId),
      kept.map(({ attempt }) => attempt.attempt),
      sealed,
      kept.map(({ number }) => number),
      writer,
      before + entries.length,
    ])
  }

  async #load(apiKeyIds: readonly number[]): Promise<ReadonlyMap<number, Keeps>> {
    const rows = await this.#options.db.query<{ id: number; keeps_exchanges: Keeps }>(
      'select id, keeps_exchanges from api_key where id = any($1::bigint[])',
      [apiKeyIds],
    )
    const askedAt = Date.now()
    for (const { id, keeps_exchanges: choice } of rows) this.#choices.set(id, { choice, askedAt })
    return new Map(rows.map((row) => [row.id, row.keeps_exchanges]))
  }

  async #seal({ key, attempt, exchange }: Entry): Promise<Buffer> {
    const sides = {
      request: requestOf(exchange),
      response: exchange.answer ? await responseOf(exchange.answer) : null,
    }
    const place = placeOf(key.apiKeyId, attempt.updateId, attempt.attempt, attempt.at)
    const text = Buffer.from(JSON.stringify(sides))
    return this.#options.vault.seal(`user:${key.userId}`, place, text)
  }
}

const insertion = `with ${marked('$8', '$9')}
  insert into webhook_exchange (at, user_id, api_key_id, update_id, attempt, sealed)
  select to_timestamp(e.at / 1000), e.user_id, e.api_key_id, e.update_id, e.attempt, e.sealed
  from unnest($1::float8[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::bytea[],
    $7::bigint[]) as e (at, user_id, api_key_id, update_id, attempt, sealed, number)
  where e.number > (select before from mark) and exists (select from app_user where id = e.user_id and erasing_at is null)`

const keeps = (choice: Keeps, isGood: boolean): boolean =>
  choice === 'all' || (choice === 'failed' && !isGood)

/** `at` in milliseconds since 1970. */
const placeOf = (apiKeyId: number, updateId: number, attempt: number, at: number) => ({
  table: 'webhook_exchange',
  column: 'sealed',
  row: `${apiKeyId}-${updateId}-${attempt}-${Math.round(at)}`,
})

/** Headers whose values would let a reader act as the sender or as the endpoint. */
const secretHeader =
  /^(authorization|proxy-authorization|cookie|set-cookie|webhook-signature|x-telegram-bot-api-secret-token)$|key|token|secret/i

const headerOf = (name: string, value: string): [string, string] => [
  name,
  secretHeader.test(name) ? '[redacted]' : redact(value.slice(0, HEADER_LENGTH)),
]

const sideOf = (headers: Iterable<readonly [string, string]>, body: string): Side => ({
  headers: [...headers].slice(0, HEADERS).map(([name, value]) => headerOf(name, value)),
  body: bounded(headOf(body)),
  is_cut: isLong(body),
})

/** The beginning of a text, with more than is kept: a secret that the cut goes through is found all the same. */
export const headOf = (text: string): string => text.slice(0, BODY_LENGTH + LONGEST_SECRET)

/** The beginning of a text as it is kept: cut, and without secrets. */
export const bounded = (head: string): string => redact(head).slice(0, BODY_LENGTH).toWellFormed()

export const isLong = (text: string): boolean => text.length > BODY_LENGTH

function requestOf({ headers, body }: WebhookExchange): Side {
  const flat = headers.flat()
  const pairs = flat.flatMap((name, at) => (at % 2 ? [] : [[name, flat[at + 1] ?? ''] as const]))
  return sideOf(pairs, body)
}

const inflaters = new Map([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
])

async function responseOf({
  headers,
  chunks,
}: NonNullable<WebhookExchange['answer']>): Promise<Side> {
  const pairs = Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => [name, value] as const),
  )
  const packed = Buffer.concat(chunks)
  const encoding = `${headers['content-encoding'] ?? ''}`.toLowerCase()
  const unpack = inflaters.get(encoding)
  const plain = unpack
    ? await unpack(packed, { maxOutputLength: 4 * BODY_LENGTH }).catch(() => packed)
    : packed
  return sideOf(pairs, plain.toString())
}

interface Wanted {
  readonly apiKeyId: number
  readonly updateId: number | undefined
}

const MOST = 50

/** The kept exchanges of a key, or of one update, the newest first, at most 50. */
export async function listExchanges(
  { db, vault }: Pick<ExchangeLogOptions, 'db' | 'vault'>,
  { apiKeyId, updateId }: Wanted,
): Promise<StoredExchange[]> {
  const rows = await db.query<{ at: Date; update_id: number; attempt: number; sealed: Buffer }>(
    `select at, update_id, attempt, sealed from webhook_exchange
     where api_key_id = $1 ${updateId === undefined ? '' : 'and update_id = $2'}
     order by at desc limit ${MOST}`,
    [apiKeyId, ...(updateId === undefined ? [] : [updateId])],
  )
  const opened = await Promise.all(
    rows.map(async ({ at, update_id, attempt, sealed }) => {
      const place = placeOf(apiKeyId, update_id, attempt, at.getTime())
      const blob = await ifReadable(vault.open(place, sealed))
      return blob ? [{ at, update_id, attempt, ...JSON.parse(blob.toString()) }] : []
    }),
  )
  return opened.flat()
}

export async function keepsOf(db: Database, apiKeyId: number): Promise<Keeps> {
  const [row] = await db.query<{ keeps: Keeps }>(
    'select keeps_exchanges as keeps from api_key where id = $1',
    [apiKeyId],
  )
  return row?.keeps ?? 'none'
}

/** Takes effect within six seconds. Exchanges that are kept already stay until their time is over. */
export async function changeKeeps(db: Database, apiKeyId: number, next: Keeps): Promise<void> {
  const changed = { keepsExchanges: next }
  await db.records((em) =>
    em.transactional(async (tx) => {
      const before = await tx.findOne(ApiKey, { id: apiKeyId }, forUpdate)
      if (!before) throw failed('not_found')
      await noteIn(tx, { before: { keep: before.keepsExchanges }, after: { keep: next } })
      await tx.nativeUpdate(ApiKey, { id: apiKeyId }, changed)
    }),
  )
}
