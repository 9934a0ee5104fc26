/** Reading a credential's log: from memory when it reaches back far enough, else by index. */

import type { ReadUpdates } from '../../actors/ports/ports.ts'
import { bothKinds, DEFAULT_KINDS, type Filter, wants } from '../../machines/model/update-kinds.ts'
import type { Database, Statement } from '../database/database.ts'
import { type Row, updateJson } from './row.ts'
import type { Tail } from './tail.ts'
import { columnsOf, isOneOf, segments } from './wanted.ts'

/**
 * Halves the range of ids until it is empty, since no index has the times of updates: a long log is not read through.
 * The update that is sought has an id from `low` to `high`; one past the newest stands for none.
 */
const firstSince = `
  with recursive half (low, high) as (
    select (select min(update_id) from update_log where credential_id = $1),
           (select max(update_id) + 1 from update_log where credential_id = $1)
    union all
    select case when u.at < $2::timestamptz then u.update_id + 1 else h.low end,
           case when u.at < $2::timestamptz then h.high else h.middle end
      from (select low, high, (low + high) / 2 as middle from half where low < high) h
      cross join lateral (
        select update_id, at from update_log
         where credential_id = $1 and update_id >= h.middle order by update_id limit 1) u)
  select update_id from update_log
   where credential_id = $1 and update_id >= (select max(low) from half)
   order by update_id limit 1`

/** The first update that was stored at this time or later; undefined if there is none. Ids and times rise together. */
export async function updateSince(
  db: Database,
  credentialId: number,
  since: Date,
): Promise<number | undefined> {
  const [row] = await db.query<{ update_id: number }>(firstSince, [credentialId, since])
  return row?.update_id
}

/** The first update with this id or a later one; undefined if there is none. */
export async function updateFrom(
  db: Database,
  credentialId: number,
  updateId: number,
): Promise<number | undefined> {
  const [row] = await db.query<{ update_id: number }>(
    `select update_id from update_log where credential_id = $1 and update_id >= $2
      order by update_id limit 1`,
    [credentialId, updateId],
  )
  return row?.update_id
}

/** The update as receivers get it; undefined once it is no longer stored. */
export async function storedUpdate(
  db: Database,
  credentialId: number,
  updateId: number,
): Promise<string | undefined> {
  const [row] = await db.query<{ payload: string }>(
    'select payload from update_log where credential_id = $1 and update_id = $2',
    [credentialId, updateId],
  )
  return row && updateJson({ updateId, payload: row.payload })
}

export interface Reader {
  readonly credentialId: number
  readonly apiKeyId: number
  readonly filter: Filter
  readonly limit: number
  readonly after: number
}

type StoredRow = readonly [
  updateId: number,
  kind: number,
  apiKeyId: number | null,
  chatId: number | null,
  traceId: string | null,
  payload: string,
]

/** Rows of any kind that the filter wants somewhere; each row is then compared with the filter at its own id. */
const pageAfter: Statement = {
  name: 'log-page',
  text: `select update_id, kind, api_key_id, chat_id, trace_id, payload from update_log
          where credential_id = $1 and update_id > $2 and update_id < $6
            and (1::bigint << kind) & $3 <> 0 and api_key_id is distinct from $4
          order by update_id limit $5`,
  rowMode: 'array',
}

const anyKind = (filter: Filter) =>
  filter.reduce((set, { kinds = DEFAULT_KINDS }) => bothKinds(set, kinds), earliest(filter))
/** The default holds for ids before the first entry. */
const earliest = (filter: Filter) => (filter[0] && filter[0].from <= 0 ? 0 : DEFAULT_KINDS)

/** Ids that one statement looks at. */
const WINDOW = 20_000

/** A page of rows, which several readers may get. */
export class ReadRows {
  readonly rows: readonly Row[]
  /** Everything up to this id was looked at. */
  readonly head: number
  #made: unknown

  constructor(rows: readonly Row[], head: number) {
    this.rows = rows
    this.head = head
  }

  /**
   * What the first caller makes of the page, for all callers, who have to pass the same function. It is kept here and not
   * in a WeakMap: the collector of young objects takes the values of an old WeakMap for living.
   */
  once<Made>(make: (page: ReadRows) => Made): Made {
    this.#made ??= make(this)
    return this.#made as Made
  }
}

/** Pages of one log that are kept. */
const SHARED_PAGES = 16
/** A longer page is made for each key. */
const SHARED_CHARACTERS = 65_536
/** Text beyond Latin-1 takes two bytes for each character. */
const CHARACTER_BYTES = 2

/** Pages that were made from memory, for all keys that ask for the same one. Dropped as soon as the log has changed. */
export class SharedPages<Page> {
  readonly #pages = new Map<string, Page>()
  #version = -1
  #characters = 0

  /** Estimated memory. */
  get bytes(): number {
    return this.#characters * CHARACTER_BYTES
  }

  /** The page that was made for such a reader, or the one that is made now. */
  page(tail: Tail, reader: Reader, make: () => Sink<Page>): Page {
    if (tail.version !== this.#version) this.#begin(tail.version)
    const { after, limit, filter } = reader
    const name = `${after} ${limit} ${JSON.stringify(filter)}`
    const known = this.#pages.get(name)
    if (known) return known
    const { page, dependsOnKey, characters } = make()
    if (!dependsOnKey && characters <= SHARED_CHARACTERS && this.#pages.size < SHARED_PAGES) {
      this.#pages.set(name, page)
      this.#characters += characters
    }
    return page
  }

  #begin(version: number): void {
    this.#version = version
    this.#pages.clear()
    this.#characters = 0
  }
}

/** At once where memory reaches back far enough. `shared`: the pages of this log. */
export function readPage(
  db: Database,
  tail: Tail,
  reader: Reader,
  shared?: SharedPages<ReadUpdates>,
): ReadUpdates | Promise<ReadUpdates> {
  return read(db, tail, reader, shared, () => new UpdatePage(reader))
}

export function readRows(
  db: Database,
  tail: Tail,
  reader: Reader,
  shared?: SharedPages<ReadRows>,
): ReadRows | Promise<ReadRows> {
  return read(db, tail, reader, shared, () => new RowPage(reader))
}

function read<Page>(
  db: Database,
  tail: Tail,
  reader: Reader,
  shared: SharedPages<Page> | undefined,
  empty: () => Sink<Page>,
): Page | Promise<Page> {
  if (!tail.reaches(reader.after)) {
    const sink = empty()
    return readInto(sink, db, tail, reader).then(() => sink.page)
  }
  const fromMemory = () => {
    const sink = empty()
    sink.take(tail.after(reader.after) ?? [])
    return sink
  }
  return shared ? shared.page(tail, reader, fromMemory) : fromMemory().page
}

interface Sink<Page> {
  /** To be read once it is full, or nothing is left to take. */
  readonly page: Page
  /** Whether it differs between keys: it looked at a row that one of them caused, and which that key does not get. */
  readonly dependsOnKey: boolean
  /** The length of its text. */
  readonly characters: number
  /** Takes rows in order; returns false once it is full. */
  take(rows: readonly Row[]): boolean
  /** No more rows are wanted up to this id, which was looked at. */
  reach(updateId: number): void
}

async function readInto(
  page: Sink<unknown>,
  db: Database,
  tail: Tail,
  reader: Reader,
): Promise<void> {
  // Rows that are committed after `next` come with the next notification. None is skipped: ids are contiguous.
  const { next } = tail
  let after = reader.after
  // In windows: for a key that wants few updates, one statement would read through the whole log.
  while (after < next - 1) {
    const past = Math.min(next, after + 1 + WINDOW)
    const rows = await query(db, reader, after, past)
    const wantsMore = page.take(rows)
    if (!wantsMore) return
    const isExhausted = rows.length < reader.limit
    after = isExhausted ? past - 1 : (rows.at(-1)?.updateId ?? after)
    if (isExhausted) page.reach(after)
  }
}

async function query(
  db: Database,
  { credentialId, apiKeyId, filter, limit }: Reader,
  after: number,
  past: number,
): Promise<Row[]> {
  const values = [credentialId, after, anyKind(filter), apiKeyId, limit, past]
  const rows = await db.query<StoredRow>(pageAfter, values)
  return rows.map(([updateId, kind, apiKeyId, chatId, traceId, payload]) => ({
    updateId,
    kind,
    apiKeyId,
    chatId,
    traceId,
    payload,
  }))
}

/** The reference's budget for one answer, and what each update counts beyond its text. */
const ANSWER_BYTES = 4_194_304
const OVERHEAD = 50

/** One page of getUpdates: filtered, cut at the limit and at the size, assembled from stored text. */
class UpdatePage implements Sink<ReadUpdates> {
  readonly #filter: Filter
  readonly #apiKeyId: number
  readonly #limit: number
  readonly #parts: string[] = []
  dependsOnKey = false
  #bytes = 0
  #cursor: number
  #head: number

  constructor(reader: { filter: Filter; apiKeyId: number; limit: number; after: number }) {
    this.#filter = reader.filter
    this.#apiKeyId = reader.apiKeyId
    this.#limit = reader.limit
    this.#cursor = reader.after
    this.#head = reader.after
  }

  take(rows: readonly Row[]): boolean {
    for (const row of rows) {
      if (this.#parts.length >= this.#limit) return false
      this.dependsOnKey ||= row.apiKeyId !== null
      if (!this.#wants(row)) {
        // Unwanted rows before the first wanted one are not read again.
        if (this.#parts.length === 0) this.#cursor = row.updateId
      } else {
        const json = updateJson(row)
        this.#bytes += Buffer.byteLength(json) + OVERHEAD
        if (this.#parts.length > 0 && this.#bytes > ANSWER_BYTES) return false
        this.#parts.push(json)
      }
      this.#head = row.updateId
    }
    return this.#parts.length < this.#limit
  }

  reach(updateId: number): void {
    this.#head = Math.max(this.#head, updateId)
    if (this.#parts.length === 0) this.#cursor = Math.max(this.#cursor, updateId)
  }

  get characters(): number {
    return this.#bytes
  }

  get page(): ReadUpdates {
    return {
      json: `[${this.#parts.join(',')}]`,
      count: this.#parts.length,
      cursor: this.#cursor,
      head: this.#head,
    }
  }

  #wants(row: Row): boolean {
    return row.apiKeyId !== this.#apiKeyId && wants(this.#filter, row)
  }
}

/** A page of rows: filtered and cut at the limit. */
class RowPage implements Sink<ReadRows> {
  readonly #reader: Reader
  readonly #rows: Row[] = []
  dependsOnKey = false
  #head: number

  constructor(reader: Reader) {
    this.#reader = reader
    this.#head = reader.after
  }

  take(rows: readonly Row[]): boolean {
    const { apiKeyId, filter, limit } = this.#reader
    for (const row of rows) {
      if (this.#rows.length >= limit) return false
      this.dependsOnKey ||= row.apiKeyId !== null
      const isWanted = row.apiKeyId !== apiKeyId && wants(filter, row)
      if (isWanted) this.#rows.push(row)
      this.#head = row.updateId
    }
    return this.#rows.length < limit
  }

  get page(): ReadRows {
    return new ReadRows(this.#rows, this.#head)
  }

  get characters(): number {
    return this.#rows.reduce((sum, { payload }) => sum + payload.length, 0)
  }

  reach(updateId: number): void {
    this.#head = Math.max(this.#head, updateId)
  }
}

const oldestKept: Statement = {
  name: 'log-oldest-kept',
  text: `select update_id from update_log u
          where credential_id = $1 and update_id > $2 and update_id < $3
            and api_key_id is distinct from $4
            and exists (select from unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::jsonb[])
                                 as part (start, past, kinds, others)
                         where update_id >= start and update_id < past
                           and ${isOneOf('u', 'part.kinds', 'part.others')})
          order by update_id desc offset $5 limit 1`,
}

interface NewestReader extends Reader {
  /** The id the log gives next. */
  readonly next: number
  /** How many updates that the key wants are kept. */
  readonly keep: number
}

/** For a negative offset: the cursor after which only the newest `keep` wanted updates remain. */
export async function cursorBefore(db: Database, reader: NewestReader): Promise<number> {
  const { credentialId, apiKeyId, filter, after, next, keep } = reader
  // There are no more ids than are kept.
  if (next - 1 - after <= keep) return after
  const [row] = await db.query<{ update_id: number }>(oldestKept, [
    credentialId,
    after,
    next,
    apiKeyId,
    keep - 1,
    ...columnsOf(segments(filter, after + 1, next)),
  ])
  return row ? row.update_id - 1 : after
}
