/** A user's credentials, searched, filtered and in order, page by page; and how many there are of each state. */
import { setImmediate } from 'node:timers/promises'
import { invalidField } from '../../machines/model/failure.ts'
import type { CredentialRecord } from '../records/credential.ts'
import { type IdentityRow, identityColumns } from './identity.ts'
import type { CredentialRow } from './records.ts'
import { type RecordSource, recordOf, shownColumns } from './records.ts'

type CredentialSort = 'created' | 'name' | 'state' | 'last_event' | 'urgency'

export interface CredentialQuery {
  readonly search: string | undefined
  readonly states: readonly string[] | undefined
  readonly platform: string | undefined
  readonly actions: readonly string[] | undefined
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
  and ($4::text[] is null or action = any($4))`

/** Sealed names cannot be searched or sorted in SQL: they are decrypted, but only for a search or sort by name. */
export async function searchCredentials(
  source: RecordSource,
  userId: number,
  query: CredentialQuery,
): Promise<CredentialPage> {
  await source.flush()
  const { sort, limit, before } = query
  const from = before === undefined ? undefined : positionOf(before, sort)
  const filter = [userId, query.states ?? null, query.platform ?? null, query.actions ?? null]
  const rows =
    sort === 'name'
      ? await pageByName(source, query, filter, from)
      : await pageByColumn(source, query, sort, filter, from)
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return {
    items: await Promise.all(page.map((row) => recordOf(source, row))),
    next_before: last ? cursorOf(last, sort) : null,
  }
}

type Sorted = CredentialRow & { readonly sort_key: string | number }
type Position = ReturnType<typeof positionOf> | undefined

/** One more than the page, if there are more. */
async function pageByColumn(
  source: RecordSource,
  { search, order, limit }: CredentialQuery,
  sort: Exclude<CredentialSort, 'name'>,
  filter: readonly unknown[],
  from: Position,
): Promise<Sorted[]> {
  const found =
    search === undefined ? null : (await named(source, search, filter)).map(({ id }) => id)
  const key = keys[sort]
  return source.db.query<Sorted>(
    `select ${shownColumns}, ${key} as sort_key from credential
      where ${wanted} and ($8::bigint[] is null or id = any($8))
        and ($5::bigint is null
             or (${key}, id) ${order === 'desc' ? '<' : '>'} ($6::${typeOf(sort)}, $5))
      order by sort_key ${order}, id ${order} limit $7`,
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
    `select ${shownColumns} from credential where ${wanted} and id = any($5)`,
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
  const words = search?.toLowerCase()
  const id = search?.replace(/^#/, '')
  const found: Named[] = []
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    if (at > 0) await setImmediate()
    for (const row of rows.slice(at, at + AT_ONCE)) {
      const identity = await source.identity(row)
      if (!identity) continue
      const { firstName, lastName = '', username = '', phone = '' } = identity
      const name = (lastName === '' ? firstName : `${firstName} ${lastName}`).toLowerCase()
      const texts = [name, username.toLowerCase(), phone]
      const isFound =
        words === undefined || `${row.id}` === id || texts.some((text) => text.includes(words))
      if (isFound) found.push({ id: row.id, name })
    }
  }
  return found
}

interface CredentialCounts {
  readonly total: number
  readonly by_state: Record<string, number>
  readonly by_platform: Record<string, number>
  readonly needing_action: number
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
    count: number
  }>(
    `select state, platform, action not in ('none', 'wait') as needs, count(*)::int as count
       from credential where ${mine} group by 1, 2, 3`,
    [userId],
  )
  const sumBy = (keyOf: (row: (typeof rows)[number]) => string) => {
    const sums: Record<string, number> = {}
    for (const row of rows) sums[keyOf(row)] = (sums[keyOf(row)] ?? 0) + row.count
    return sums
  }
  const total = rows.reduce((sum, { count }) => sum + count, 0)
  return {
    total,
    by_state: sumBy(({ state }) => state),
    by_platform: sumBy(({ platform }) => platform),
    needing_action: rows.reduce((sum, { needs, count }) => sum + (needs ? count : 0), 0),
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
