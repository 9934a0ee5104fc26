/** How many updates wait for a key, without counting the table: complete blocks of ids are counted once. */
import { DEFAULT_KINDS, type Filter, type KindSet } from '../../machines/update-kinds.ts'
import type { Database } from '../database/database.ts'

/** Ids in one block. */
const BLOCK = 1_000

export interface PendingQuestion {
  readonly credentialId: number
  readonly apiKeyId: number
  readonly cursor: number
  readonly filter: Filter
  /** The id the log gives next. */
  readonly next: number
}

export async function countPending(db: Database, question: PendingQuestion): Promise<number> {
  const { credentialId, cursor, next } = question
  if (cursor >= next - 1) return 0
  const [row] = await db.query<{ oldest: number | null }>(
    'select min(update_id) as oldest from update_log where credential_id = $1',
    [credentialId],
  )
  if (row?.oldest == null) return 0
  const after = Math.max(cursor, row.oldest - 1)
  let pending = 0
  for (const { from, until, kinds } of segments(question.filter, after + 1, next)) {
    pending += await countRange(db, question, kinds, from, until)
  }
  return pending
}

/** The ranges of ids (`until` excluded) in which one set of kinds was wanted. */
function* segments(filter: Filter, from: number, until: number) {
  const entries = [{ from: 0, kinds: DEFAULT_KINDS }, ...filter]
  for (const [index, entry] of entries.entries()) {
    const begin = Math.max(from, entry.from)
    const end = Math.min(until, entries[index + 1]?.from ?? until)
    if (begin < end) yield { from: begin, until: end, kinds: entry.kinds }
  }
}

async function countRange(
  db: Database,
  { credentialId, apiKeyId }: PendingQuestion,
  kinds: KindSet,
  from: number,
  until: number,
): Promise<number> {
  const firstWhole = Math.ceil(from / BLOCK)
  const pastWhole = Math.floor(until / BLOCK)
  if (pastWhole - firstWhole < 2)
    return countRows(db, { credentialId, apiKeyId, kinds, from, until })
  const ends = { credentialId, apiKeyId, kinds }
  await fillBlocks(db, credentialId, firstWhole, pastWhole)
  const [whole] = await db.query<{ updates: number }>(
    `select coalesce(sum(updates), 0)::bigint as updates from update_block
      where credential_id = $1 and block >= $2 and block < $3 and (1 << kind) & $4 <> 0`,
    [credentialId, firstWhole, pastWhole, kinds],
  )
  const head = await countRows(db, { ...ends, from, until: firstWhole * BLOCK })
  const tail = await countRows(db, { ...ends, from: pastWhole * BLOCK, until })
  return head + (whole?.updates ?? 0) + tail
}

async function countRows(
  db: Database,
  range: {
    readonly credentialId: number
    readonly apiKeyId: number
    readonly kinds: KindSet
    readonly from: number
    readonly until: number
  },
): Promise<number> {
  if (range.from >= range.until) return 0
  const [row] = await db.query<{ updates: number }>(
    `select count(*) as updates from update_log
      where credential_id = $1 and update_id >= $2 and update_id < $3
        and (1 << kind) & $4 <> 0 and api_key_id is distinct from $5`,
    [range.credentialId, range.from, range.until, range.kinds, range.apiKeyId],
  )
  return row?.updates ?? 0
}

/** Counts the complete blocks that nobody has counted yet; later questions find them. */
async function fillBlocks(
  db: Database,
  credentialId: number,
  first: number,
  past: number,
): Promise<void> {
  await db.query(
    `insert into update_block (credential_id, block, kind, updates)
     select credential_id, update_id / ${BLOCK}, kind, count(*)
       from update_log
      where credential_id = $1
        and update_id >= ${BLOCK} * greatest($2::bigint, (
              select coalesce(max(block) + 1, 0) from update_block where credential_id = $1))
        and update_id < ${BLOCK} * $3::bigint
      group by 1, 2, 3
     on conflict do nothing`,
    [credentialId, first, past],
  )
}
