/** A user's credentials, searched, filtered and in order, page by page; and how many there are of each state. */
import { setImmediate } from 'node:timers/promises'
import { invalidField } from '../../machines/model/failure.ts'
import type { CredentialRecord } from '../records/credential.ts'
import { type IdentityRow, identityColumns } from './identity.ts'
import type { CredentialRow } from './records.ts'
import { type RecordSource, recordOf, shownColumns } from './records.ts'

export type CredentialSort = 'created' | 'name' | 'state' | 'last_event' | 'urgency'

export interface CredentialQuery {
  readonly search: string | undefined
  readonly states: readonly string[] | undefined
  readonly platform: string | undefined
  readonly actions: readonly string[] | undefined
  readonly reasons: readonly string[] | undefined
  readonly sort: CredentialSort
  readonly order: 'asc' | 'desc'
  readonly before: string | undefined
  readonly limit: number
}

/** The sort key of rows before their ids, as text or a number, so that a cursor can carry it. */
const keys: Readonly<Record<Exclude<CredentialSort, 'name'>, string>> = {
  created: `0::float8`,
  state: `state`,
  last_event: `coalesce(extract(epoch from last_event_at), 0)::float8`,
  urgency: `(case action when 'none' then 0 when 'wait' then 1 else 2 end)::float8`,
}

const mine = 'user_id = $1 and deleting_at is null and deactivated_at is null'

interface CredentialPage {
  readonly items: CredentialRecord[]
  readonly next_before: string | null
}

const wanted = `${mine}
  and ($2::text[] is null or state = any($2))
  and ($3::text is null or platform = $3)
  and ($4::text[] is null or action = any($4))
  and ($5::text[] is null or reason = any($5))`

/** Sealed names cannot be searched or sorted in SQL: they are decrypted, but only for a search or sort by name. */
export async function searchCredentials(
  source: RecordSource,
  userId: number,
  query: CredentialQuery,
): Promise<CredentialPage> {
  await source.flush()
  const { sort, limit, before } = query
  const from = before === undefined ? undefined : positionOf(before, sort)
  const filter = filterOf(userId, query)
  const rows =
    sort === 'name'
      ? await pageByName(source, query, filter, from)
      : await pageByColumn(source, query, sort, filter, from, await foundIds(source, query, filter))
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return {
    items: await Promise.all(page.map((row) => recordOf(source, row))),
    next_before: last ? cursorOf(last, sort) : null,
  }
}

const filterOf = (
  userId: number,
  query: Pick<CredentialQuery, 'states' | 'platform' | 'actions' | 'reasons'>,
) => [userId, query.states, query.platform, query.actions, query.reasons].map((one) => one ?? null)

const EXPORT_PAGE = 500

/** The credentials as CSV (RFC 4180), oldest first, read page by page: a header, then a line for each of them. */
export async function* exportCredentials(
  source: RecordSource,
  userId: number,
  query: Omit<CredentialQuery, 'sort' | 'order' | 'before' | 'limit'>,
): AsyncGenerator<string> {
  yield csvLine(Object.keys(csvColumns))
  await source.flush()
  const filter = filterOf(userId, query)
  const found = await foundIds(source, query, filter)
  const page = { order: 'asc', limit: EXPORT_PAGE } as const
  let from: Position
  for (;;) {
    const rows = await pageByColumn(source, page, 'created', filter, from, found)
    const records = await Promise.all(rows.map((row) => recordOf(source, row)))
    yield records.map((record) => csvLine(csvCells(record))).join('')
    const last = rows.at(-1)
    if (!last || rows.length <= EXPORT_PAGE) return
    from = { key: 0, id: last.id }
  }
}

const foundIds = async (
  source: RecordSource,
  { search }: Pick<CredentialQuery, 'search'>,
  filter: readonly unknown[],
) => (search === undefined ? null : (await named(source, search, filter)).map(({ id }) => id))

const csvColumns: Readonly<
  Record<string, (record: CredentialRecord) => string | number | null | undefined>
> = {
  credential_id: (record) => record.credential_id,
  platform: (record) => record.platform,
  first_name: (record) => record.account.first_name,
  last_name: (record) => record.account.last_name,
  username: (record) => record.account.username,
  phone: (record) => record.account.phone,
  state: (record) => record.state,
  reason: (record) => record.reason,
  action: (record) => record.action,
  online_since: (record) => record.online_since,
  last_event_at: (record) => record.health.last_event_at,
  created_at: (record) => record.created_at,
}

const csvCells = (record: CredentialRecord) =>
  Object.values(csvColumns).map((cell) => `${cell(record) ?? ''}`)

/** A spreadsheet would run a name that begins like a formula; a quote in front keeps it text. A phone is a number. */
const csvLine = (cells: readonly string[]) =>
  `${cells
    .map((cell) => (/^[=+\-@\t\r]/.test(cell) && !/^\+\d+$/.test(cell) ? `'${cell}` : cell))
    .map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(',')}\r\n`

type Sorted = CredentialRow & { readonly sort_key: string | number }
type Position = ReturnType<typeof positionOf> | undefined

/** One more than the page, if there are more. */
async function pageByColumn(
  source: RecordSource,
  { order, limit }: Pick<CredentialQuery, 'order' | 'limit'>,
  sort: Exclude<CredentialSort, 'name'>,
  filter: readonly unknown[],
  from: Position,
  found: readonly number[] | null,
): Promise<Sorted[]> {
  const key = keys[sort]
  return source.db.query<Sorted>(
    `select ${shownColumns}, ${key} as sort_key from credential
      where ${wanted} and ($9::bigint[] is null or id = any($9))
        and ($6::bigint is null
             or (${key}, id) ${order === 'desc' ? '<' : '>'} ($7::${typeOf(sort)}, $6))
      order by sort_key ${order}, id ${order} limit $8`,
    [...filter, from?.id ?? null, from?.key ?? null, limit + 1, found],
  )
}

async function pageByName(
  source: RecordSource,
  { search, order, limit }: CredentialQuery,
  filter: readonly unknown[],
  from: Position,
): Promise<Sorted[]> {
  const sign = order === 'desc' ? -1 : 1
  const compare = (one: Named, other: Named) =>
    sign * (collator.compare(one.name, other.name) || one.id - other.id)
  const start = from && { id: from.id, name: `${from.key}` }
  const found = (await named(source, search, filter))
    .filter((each) => start === undefined || compare(each, start) > 0)
    .sort(compare)
    .slice(0, limit + 1)
  const rows = await source.db.query<CredentialRow>(
    `select ${shownColumns} from credential where ${wanted} and id = any($6)`,
    [...filter, found.map(({ id }) => id)],
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return found.flatMap(({ id, name }) => {
    const row = byId.get(id)
    return row ? [{ ...row, sort_key: name }] : []
  })
}

interface Named {
  readonly id: number
  /** First and last, in small letters. */
  readonly name: string
}

const collator = new Intl.Collator('und')
/** How many names are decrypted before other work gets a turn. */
const AT_ONCE = 200

/** Those in whose names, username, phone or id the search is found; all of them where there is no search. */
async function named(
  source: RecordSource,
  search: string | undefined,
  filter: readonly unknown[],
): Promise<Named[]> {
  const rows = await source.db.query<IdentityRow>(
    `select ${identityColumns} from credential where ${wanted}`,
    [...filter],
  )
  const words = search && folded(search)
  const id = words?.replace(/^#/, '')
  const found: Named[] = []
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    if (at > 0) await setImmediate()
    for (const row of rows.slice(at, at + AT_ONCE)) {
      const identity = await source.identity(row)
      if (!identity) continue
      const { firstName, lastName = '', username = '', phone = '' } = identity
      const name = (lastName === '' ? firstName : `${firstName} ${lastName}`).toLowerCase()
      const texts = [name, username, phone].map(folded)
      const isFound =
        words === undefined || `${row.id}` === id || texts.some((text) => text.includes(words))
      if (isFound) found.push({ id: row.id, name })
    }
  }
  return found
}

/** Small Latin letters without accents and Latin digits: "zoe" finds Zoë, and ۲۷ finds 27. */
const folded = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .replace(/[۰-۹٠-٩]/g, (digit) => `${digit.charCodeAt(0) & 15}`)
    .toLowerCase()

interface CredentialCounts {
  readonly total: number
  readonly by_state: Record<string, number>
  readonly by_platform: Record<string, number>
  readonly needing_action: number
  /** Of those that need an action. */
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
  const isKey = typeof key === (typeOf(sort) === 'text' ? 'string' : 'number')
  if (isKey && Number.isSafeInteger(id)) return { key: key as string | number, id: id as number }
  throw invalidField('before', 'is not a cursor of this list')
}

function decoded(cursor: string): unknown[] {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(position) ? position : []
  } catch {
    return []
  }
}
