/** Reading a credential's log: from memory when it reaches back far enough, else by index. */
import type { ReadUpdates } from '../../actors/ports/ports.ts'
import { DEFAULT_KINDS, type Filter } from '../../machines/model/update-kinds.ts'
import type { Database, Statement } from '../database/database.ts'
import { Page } from './page.ts'
import type { Row } from './row.ts'
import { RowPage } from './row-page.ts'
import type { Tail } from './tail.ts'

export interface Reader {
  readonly credentialId: number
  readonly apiKeyId: number
  readonly filter: Filter
  readonly limit: number
  readonly after: number
}

interface StoredRow {
  readonly update_id: number
  readonly kind: number
  readonly api_key_id: number | null
  readonly chat_id: number | null
  readonly trace_id: string | null
  readonly payload: string
}

/** What the reader may want at all; each row is still held against the filter of its own id. */
const pageAfter: Statement = {
  name: 'log-page',
  text: `select update_id, kind, api_key_id, chat_id, trace_id, payload from update_log
          where credential_id = $1 and update_id > $2 and update_id < $6
            and (1 << kind) & $3 <> 0 and api_key_id is distinct from $4
          order by update_id limit $5`,
}

const anyKind = (filter: Filter) => filter.reduce((set, { kinds }) => set | kinds, earliest(filter))
/** Ids before the first entry are held against the default. */
const earliest = (filter: Filter) => (filter[0] && filter[0].from <= 0 ? 0 : DEFAULT_KINDS)

/** Ids that one statement looks at. */
const WINDOW = 20_000

export interface ReadRows {
  readonly rows: readonly Row[]
  /** Everything up to here was looked at. */
  readonly head: number
}

export async function readPage(db: Database, tail: Tail, reader: Reader): Promise<ReadUpdates> {
  const page = new Page(reader)
  await readInto(page, db, tail, reader)
  return page.result
}

export async function readRows(db: Database, tail: Tail, reader: Reader): Promise<ReadRows> {
  const page = new RowPage(reader)
  await readInto(page, db, tail, reader)
  return page
}

/** What rows are read into. */
interface Reading {
  /** False once there is no room for more. */
  take(rows: readonly Row[]): boolean
  reach(updateId: number): void
}

async function readInto(page: Reading, db: Database, tail: Tail, reader: Reader): Promise<void> {
  const recent = tail.after(reader.after)
  if (recent) {
    page.take(recent)
    return
  }
  // Rows that are committed but not told yet come with the next poke; none is skipped, ids being contiguous.
  const { next } = tail
  let after = reader.after
  // A window at a time: a key that wants little of a long log must not look through all of it in one statement.
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
  return rows.map((row) => ({
    updateId: row.update_id,
    kind: row.kind,
    apiKeyId: row.api_key_id,
    chatId: row.chat_id,
    traceId: row.trace_id,
    payload: row.payload,
  }))
}
