/** A user's credentials, searched, filtered and in order, page by page; and how many there are of each state. */
import { failed } from '../../actors/errors.ts'
import type { CredentialRecord, CredentialRow } from './record.ts'
import { shownColumns } from './record.ts'
import { type RecordSource, recordOf } from './records.ts'

export type CredentialSort = 'created' | 'name' | 'state' | 'last_event' | 'urgency'

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

/** What rows are ordered by before their ids, as text or a number, so that a cursor can carry it. */
const keys: Readonly<Record<CredentialSort, string>> = {
  created: `0::float8`,
  name: `lower(concat_ws(' ', account->>'firstName', account->>'lastName'))`,
  state: `state`,
  last_event: `coalesce(extract(epoch from last_event_at), 0)::float8`,
  urgency: `(case action when 'none' then 0 when 'wait' then 1 else 2 end)::float8`,
}

const mine = 'user_id = $1 and deleting_at is null and deactivated_at is null'

export interface CredentialPage {
  readonly items: CredentialRecord[]
  readonly next_before: string | null
}

export async function searchCredentials(
  source: RecordSource,
  userId: number,
  query: CredentialQuery,
): Promise<CredentialPage> {
  await source.flush()
  const { sort, order, limit } = query
  const from = query.before === undefined ? undefined : positionOf(query.before, sort)
  const key = keys[sort]
  const rows = await source.db.query<CredentialRow & { sort_key: string | number }>(
    `select ${shownColumns}, ${key} as sort_key from credential
      where ${mine}
        and ($2::text is null or account->>'firstName' ilike $2 or account->>'lastName' ilike $2
             or concat_ws(' ', account->>'firstName', account->>'lastName') ilike $2
             or account->>'username' ilike $2 or account->>'phone' ilike $2 or id::text = $3)
        and ($4::text[] is null or state = any($4))
        and ($5::text is null or platform = $5)
        and ($6::text[] is null or action = any($6))
        and ($7::bigint is null
             or (${key}, id) ${order === 'desc' ? '<' : '>'} ($8::${typeOf(sort)}, $7))
      order by sort_key ${order}, id ${order} limit $9`,
    [
      userId,
      query.search === undefined ? null : `%${query.search.replace(/[\\%_]/g, '\\$&')}%`,
      query.search?.replace(/^#/, '') ?? null,
      query.states ?? null,
      query.platform ?? null,
      query.actions ?? null,
      from?.id ?? null,
      from?.key ?? null,
      limit + 1,
    ],
  )
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return {
    items: await Promise.all(page.map((row) => recordOf(source, row))),
    next_before: last ? cursorOf(last, sort) : null,
  }
}

export interface CredentialCounts {
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
  throw failed('bad_request', 'field "before" is not a cursor of this list')
}

function decoded(cursor: string): unknown[] {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(position) ? position : []
  } catch {
    return []
  }
}
