/** A user's credentials, searched, filtered and in order, page by page; and how many there are of each state. */
import { invalidField } from '../../machines/model/failure.ts'
import { credentialCells, credentialColumns, csvLine } from '../bulk/csv.ts'
import type { CredentialRecord } from '../records/credential.ts'
import { byName } from './identity.ts'
import type { CredentialRow } from './records.ts'
import { type RecordSource, recordsOf, shownColumns } from './records.ts'

export type CredentialSort = 'created' | 'name' | 'state' | 'last_event' | 'urgency'

export interface CredentialQuery {
  readonly search: string | undefined
  /** The search looks at names as they are shown to staff, and nothing is sorted by them. */
  readonly isMasked?: boolean
  readonly states: readonly string[] | undefined
  readonly platform: string | undefined
  readonly actions: readonly string[] | undefined
  readonly reasons: readonly string[] | undefined
  /** One of them is enough. */
  readonly tags: readonly string[] | undefined
  /** Only these accounts; absent: all. */
  readonly ids?: readonly number[] | undefined
  readonly sort: CredentialSort
  readonly order: 'asc' | 'desc'
  readonly before: string | undefined
  readonly limit: number
}

/** The first sort key of each order; rows with the same key are sorted by id. */
const keys: Readonly<Record<Exclude<CredentialSort, 'name'>, string>> = {
  created: `0::float8`,
  state: `state`,
  last_event: `coalesce(last_event_at, 'epoch')`,
  urgency: `(case action when 'none' then 0 when 'wait' then 1 else 2 end)::float8`,
}

/** The sort key as text or a number, so that a cursor can carry it. Seconds keep their microseconds on the way. */
const shownKey = (sort: CredentialSort, key: string) =>
  sort === 'last_event' ? `date_part('epoch', ${key})` : key

const givenKey = (sort: CredentialSort, parameter: string) =>
  sort === 'last_event' ? `to_timestamp(${parameter}::float8)` : `${parameter}::${typeOf(sort)}`

const mine = 'user_id = $1 and deleting_at is null and deactivated_at is null'

interface CredentialPage {
  readonly items: CredentialRecord[]
  readonly next_before: string | null
}

const mineWanted = `${mine}
  and ($2::text[] is null or state = any($2))
  and ($3::text is null or platform = $3)
  and ($4::text[] is null or action = any($4))
  and ($5::text[] is null or reason = any($5))
  and ($6::text[] is null or tags <> '{}' and tags && $6)
  and ($7::bigint[] is null or id = any($7))`

/** Sealed names cannot be searched or sorted in SQL: they are opened, but only for a search or sort by name. */
export async function searchCredentials(
  source: RecordSource,
  userId: number,
  query: CredentialQuery,
): Promise<CredentialPage> {
  await source.flush()
  const { sort, limit, before } = query
  const from = before === undefined ? undefined : positionOf(before, sort)
  const filter = filterOf(userId, query)
  const rows = await pageOf(source, query, filter, from)
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return {
    items: await recordsOf(source, page),
    next_before: last ? cursorOf(last, sort) : null,
  }
}

const filterOf = (
  userId: number,
  { states, platform, actions, reasons, tags, ids }: Omit<Filters, 'search'>,
): Filter => [userId, ...[states, platform, actions, reasons, tags, ids].map((one) => one ?? null)]

type Filters = Omit<CredentialQuery, 'sort' | 'order' | 'before' | 'limit'>

/** Null: nothing is searched for. */
const foundBy = async (
  source: RecordSource,
  userId: number,
  { search, isMasked }: Pick<Filters, 'search' | 'isMasked'>,
): Promise<number[] | null> =>
  search === undefined ? null : (await source.names.of(userId)).find(search, isMasked)

/** The ids of all that pass the filter, oldest first. */
export async function matchingIds(
  source: RecordSource,
  userId: number,
  query: Filters,
): Promise<number[]> {
  await source.flush()
  const found = await foundBy(source, userId, query)
  const rows = await source.db.query<{ id: number }>(
    `select id from credential where ${mineWanted} and ($8::bigint[] is null or id = any($8)) order by id`,
    [...filterOf(userId, query), found],
  )
  return rows.map(({ id }) => id)
}

/** The given ids that are accounts of this user, in the given order. */
export async function ownIds(
  source: RecordSource,
  userId: number,
  ids: readonly number[],
): Promise<number[]> {
  const rows = await source.db.query<{ id: number }>(
    `select id from credential where ${mine} and id = any($2)`,
    [userId, ids],
  )
  const own = new Set(rows.map(({ id }) => id))
  return [...new Set(ids)].filter((id) => own.has(id))
}

const EXPORT_PAGE = 500

/** The credentials as CSV (RFC 4180), oldest first, read page by page: a header, then a line for each of them. */
export async function* exportCredentials(
  source: RecordSource,
  userId: number,
  chosen: Filters | readonly number[],
): AsyncGenerator<string> {
  yield csvLine(credentialColumns)
  await source.flush()
  const pages = isNamed(chosen)
    ? pagesOfIds(source, userId, chosen)
    : pagesOf(source, userId, chosen)
  for await (const rows of pages) {
    const records = await recordsOf(source, rows)
    yield records.map((record) => csvLine(credentialCells(record))).join('')
  }
}

const isNamed = (chosen: Filters | readonly number[]): chosen is readonly number[] =>
  Array.isArray(chosen)

async function* pagesOf(
  source: RecordSource,
  userId: number,
  query: Filters,
): AsyncGenerator<CredentialRow[]> {
  const filter = filterOf(userId, query)
  const page = { ...query, sort: 'created', order: 'asc', limit: EXPORT_PAGE } as const
  let from: Position
  for (;;) {
    const rows = await pageOf(source, page, filter, from)
    yield rows.slice(0, EXPORT_PAGE)
    const last = rows[EXPORT_PAGE - 1]
    if (!last || rows.length <= EXPORT_PAGE) return
    from = { key: 0, id: last.id }
  }
}

async function* pagesOfIds(
  source: RecordSource,
  userId: number,
  ids: readonly number[],
): AsyncGenerator<CredentialRow[]> {
  const sorted = [...new Set(ids)].sort((one, other) => one - other)
  for (let at = 0; at < sorted.length; at += EXPORT_PAGE) {
    yield rowsOf(source, userId, sorted.slice(at, at + EXPORT_PAGE))
  }
}

const rowsOf = (source: RecordSource, userId: number, ids: readonly number[]) =>
  source.db.query<CredentialRow>(
    `select ${shownColumns} from credential where ${mine} and id = any($2) order by id`,
    [userId, ids],
  )

/** Records of the given accounts, by id. Ids of other users' accounts are left out. */
export async function recordsById(
  source: RecordSource,
  userId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, CredentialRecord>> {
  const records = await recordsOf(source, await rowsOf(source, userId, ids))
  return new Map(records.map((record) => [record.credential_id, record]))
}

type Sorted = CredentialRow & { readonly sort_key: string | number }
type Position = ReturnType<typeof positionOf> | undefined

type Page = Pick<CredentialQuery, 'search' | 'isMasked' | 'sort' | 'order' | 'limit'>
type Filter = readonly [userId: number, ...unknown[]]

/** One more than the page, if there are more. */
async function pageOf(
  source: RecordSource,
  query: Page,
  filter: Filter,
  from: Position,
): Promise<Sorted[]> {
  const { search, isMasked, sort, order } = query
  if (sort !== 'name' && search === undefined) {
    return pageByColumn(source, { ...query, sort }, filter, from, null)
  }
  const names = await source.names.of(filter[0])
  if (sort === 'name') {
    const sorted = await names.sorted(search)
    const start = from && { id: from.id, name: `${from.key}`, folded: '' }
    return pageInOrder(source, query, filter, after(sorted, start, order, byName))
  }
  const found = await names.find(search ?? '', isMasked)
  if (sort !== 'created') return pageByColumn(source, { ...query, sort }, filter, from, found)
  const ids = found.sort((one, other) => one - other).map((id) => ({ id }))
  return pageInOrder(
    source,
    query,
    filter,
    after(ids, from, order, (one, other) => one.id - other.id),
  )
}

/** The part of the sorted list after `start`, in this order. */
function after<One>(
  sorted: readonly One[],
  start: One | undefined,
  order: 'asc' | 'desc',
  compare: (one: One, other: One) => number,
): One[] {
  if (start === undefined) return order === 'asc' ? [...sorted] : sorted.toReversed()
  let low = 0
  let high = sorted.length
  const isBefore = (one: One) => compare(one, start) < (order === 'asc' ? 1 : 0)
  while (low < high) {
    const middle = (low + high) >> 1
    const one = sorted[middle]
    if (one !== undefined && isBefore(one)) low = middle + 1
    else high = middle
  }
  return order === 'asc' ? sorted.slice(low) : sorted.slice(0, low).reverse()
}

async function pageByColumn(
  source: RecordSource,
  { sort, order, limit }: Page & { readonly sort: Exclude<CredentialSort, 'name'> },
  filter: Filter,
  from: Position,
  found: readonly number[] | null,
): Promise<Sorted[]> {
  const key = keys[sort]
  // Rows are wide: only those of the page are read whole, and only they get a key to show.
  return source.db.query<Sorted>(
    `select ${shownColumns}, ${shownKey(sort, key)} as sort_key from credential where id = any(array(
       select id from credential
        where ${mineWanted} and ($11::bigint[] is null or id = any($11))
          and ($8::bigint is null
               or (${key}, id) ${order === 'desc' ? '<' : '>'} (${givenKey(sort, '$9')}, $8))
        order by ${key} ${order}, id ${order} limit $10))
      order by ${key} ${order}, id ${order}`,
    [...filter, from?.id ?? null, from?.key ?? null, limit + 1, found],
  )
}

/** The largest number of candidates in one statement. */
const LOOKED_AT_ONCE = 20_000

/** The first candidates that pass the filter. Reads a few candidates at first, and more if few of them pass. */
async function pageInOrder(
  source: RecordSource,
  { limit }: Page,
  filter: Filter,
  candidates: readonly { readonly id: number; readonly name?: string }[],
): Promise<Sorted[]> {
  const rows: Sorted[] = []
  let looked = limit + 1
  for (let at = 0; at < candidates.length && rows.length <= limit; at += looked) {
    if (at > 0) looked = Math.min(LOOKED_AT_ONCE, 8 * looked)
    const some = candidates.slice(at, at + looked)
    const found = await source.db.query<CredentialRow>(
      `select ${shownColumns} from credential where ${mineWanted} and id = any($8)`,
      [...filter, some.map(({ id }) => id)],
    )
    const byId = new Map(found.map((row) => [row.id, row]))
    for (const { id, name = 0 } of some) {
      const row = byId.get(id)
      if (row) rows.push({ ...row, sort_key: name })
    }
  }
  return rows.slice(0, limit + 1)
}

interface CredentialGroups {
  /** How many accounts pass the whole filter. */
  readonly matching: number
  /** Counts of the accounts that pass the filter without its `reason` part. */
  readonly by_reason: Record<string, number>
}

export async function groupCredentials(
  source: RecordSource,
  userId: number,
  query: Filters,
): Promise<CredentialGroups> {
  await source.flush()
  const { reasons } = query
  const found = await foundBy(source, userId, query)
  // A sum, because the planner would look each of ten thousand ids up instead of reading the index once.
  const among = found === null ? '' : 'and id + 0 = any($8::bigint[])'
  const rows = await source.db.query<{ reason: string | null; count: number }>(
    `select reason, count(*)::int as count from credential where ${mineWanted} ${among} group by 1`,
    [...filterOf(userId, { ...query, reasons: undefined }), ...(found === null ? [] : [found])],
  )
  const isWanted = (reason: string | null) =>
    reasons === undefined || (reason !== null && reasons.includes(reason))
  const by_reason: Record<string, number> = {}
  for (const { reason, count } of rows) if (reason !== null) by_reason[reason] = count
  const matching = rows.reduce((sum, row) => sum + (isWanted(row.reason) ? row.count : 0), 0)
  return { matching, by_reason }
}

interface CredentialCounts {
  readonly total: number
  readonly by_state: Record<string, number>
  readonly by_platform: Record<string, number>
  readonly needing_action: number
  /** Counts of the accounts that need an action. */
  readonly by_reason: Record<string, number>
}

export async function countCredentials(
  source: RecordSource,
  userId: number,
): Promise<CredentialCounts> {
  await source.flush()
  const rows = await source.db.query<{
    state: string
    platform: string
    needs: boolean
    reason: string | null
    count: number
  }>(
    `select state, platform, action not in ('none', 'wait') as needs, reason, count(*)::int as count
       from credential where ${mine} group by 1, 2, 3, 4`,
    [userId],
  )
  const sumBy = (keyOf: (row: (typeof rows)[number]) => string | null) => {
    const sums: Record<string, number> = {}
    for (const row of rows) {
      const key = keyOf(row)
      if (key !== null) sums[key] = (sums[key] ?? 0) + row.count
    }
    return sums
  }
  const total = rows.reduce((sum, { count }) => sum + count, 0)
  return {
    total,
    by_state: sumBy(({ state }) => state),
    by_platform: sumBy(({ platform }) => platform),
    needing_action: rows.reduce((sum, { needs, count }) => sum + (needs ? count : 0), 0),
    by_reason: sumBy(({ needs, reason }) => (needs ? reason : null)),
  }
}

const typeOf = (sort: CredentialSort) => (sort === 'name' || sort === 'state' ? 'text' : 'float8')

/** By creation a cursor is the id alone, as in every list. */
const cursorOf = (row: { id: number; sort_key: string | number }, sort: CredentialSort) =>
  sort === 'created'
    ? `${row.id}`
    : Buffer.from(JSON.stringify([row.sort_key, row.id])).toString('base64url')

function positionOf(cursor: string, sort: CredentialSort): { key: string | number; id: number } {
  const [key, id] = sort === 'created' ? [0, Number(cursor)] : decoded(cursor)
  if (isKeyOf(sort, key) && Number.isSafeInteger(id)) return { key, id: id as number }
  throw invalidField('before', 'is not a cursor of this list')
}

/** The end of the year 9999 in seconds. No time of a list is later or before 1970, and the database does not take every number. */
const LAST_SECONDS = 253_402_300_799

/** Anybody may write a cursor, and the database refuses some values. Names are compared here. */
function isKeyOf(sort: CredentialSort, key: unknown): key is string | number {
  if (typeOf(sort) === 'float8') return typeof key === 'number' && key >= 0 && key <= LAST_SECONDS
  return typeof key === 'string' && (sort === 'name' || !key.includes('\u0000'))
}

function decoded(cursor: string): unknown[] {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(position) ? position : []
  } catch {
    return []
  }
}
