/** Counts the updates that wait for a key. Complete blocks of ids are counted only once, and then stored. */
import { type Filter, OTHER_KINDS } from '../../machines/model/update-kinds.ts'
import type { Database } from '../database/database.ts'
import { columnsOf, isOneOf, type Segment, segments } from './wanted.ts'

/** Ids in one block. */
export const BLOCK = 1_000

interface PendingQuestion {
  readonly credentialId: number
  readonly apiKeyId: number
  readonly cursor: number
  readonly filter: Filter
  /** The id the log gives next. */
  readonly next: number
}

type Range = PendingQuestion & Segment

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
  for (const segment of segments(question.filter, after + 1, next)) {
    pending += await countRange(db, { ...question, ...segment })
  }
  return pending
}

/** Beyond so many parts they are short ones, and counted in one statement. */
const PARTS = 8

/** Counts the updates in these runs of ids (first and last of each) that the key wants. */
export async function countWanted(
  db: Database,
  question: PendingQuestion,
  runs: readonly (readonly [number, number])[],
): Promise<number> {
  const { credentialId, apiKeyId, filter, next } = question
  const parts = runs.flatMap(([from, to]) => segments(filter, from, Math.min(to + 1, next)))
  if (parts.length <= PARTS) {
    const counts = await Promise.all(parts.map((part) => countRange(db, { ...question, ...part })))
    return counts.reduce((sum, count) => sum + count, 0)
  }
  const [row] = await db.query<{ updates: number }>(
    `select count(*) as updates
       from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::jsonb[])
              as part (start, past, kinds, others)
       join update_log u on u.credential_id = $1 and u.update_id >= part.start
        and u.update_id < part.past and ${isOneOf('u', 'part.kinds', 'part.others')}
        and u.api_key_id is distinct from $2`,
    [credentialId, apiKeyId, ...columnsOf(parts)],
  )
  return row?.updates ?? 0
}

async function countRange(db: Database, { others, ...range }: Range): Promise<number> {
  const { credentialId, apiKeyId, kinds, from, until } = range
  if (others) {
    // Blocks count all kinds without a number as one: those wanted by name are counted row by row.
    const listed = await countRange(db, { ...range, kinds: kinds - OTHER_KINDS })
    return listed + (await countRows(db, { ...range, kinds: OTHER_KINDS, others }))
  }
  const firstWhole = Math.ceil(from / BLOCK)
  const pastWhole = Math.floor(until / BLOCK)
  if (pastWhole - firstWhole < 2) return countRows(db, range)
  await countBlocks(db, credentialId, pastWhole)
  const [whole] = await db.query<{ updates: number }>(
    `select coalesce(sum(updates), 0)::bigint as updates from update_block
      where credential_id = $1 and block >= $2 and block < $3
        and (1::bigint << kind) & $4 <> 0 and api_key_id <> $5`,
    [credentialId, firstWhole, pastWhole, kinds, apiKeyId],
  )
  const head = await countRows(db, { ...range, until: firstWhole * BLOCK })
  const tail = await countRows(db, { ...range, from: pastWhole * BLOCK })
  return head + (whole?.updates ?? 0) + tail
}

const BLOCKS_AT_ONCE = 200

async function countRows(
  db: Database,
  { credentialId, apiKeyId, kinds, others, from, until }: Range,
): Promise<number> {
  if (from >= until) return 0
  const [row] = await db.query<{ updates: number }>(
    `select count(*) as updates from update_log u
      where credential_id = $1 and update_id >= $2 and update_id < $3
        and ${isOneOf('u', '$4::bigint', '$6::jsonb')} and api_key_id is distinct from $5`,
    [credentialId, from, until, kinds, apiKeyId, others ? JSON.stringify(others) : null],
  )
  return row?.updates ?? 0
}

/**
 * Counts and stores the blocks before `past` that are not counted yet. It always begins with the oldest, so that there
 * is no gap before a counted block.
 */
async function countBlocks(db: Database, credentialId: number, past: number): Promise<void> {
  // In steps, so that each statement stays within its time limit.
  for (let to = await uncountedFrom(db, credentialId); to < past; ) {
    to = Math.min(past, to + BLOCKS_AT_ONCE)
    await countBlocksBefore(db, credentialId, to)
  }
}

async function uncountedFrom(db: Database, credentialId: number): Promise<number> {
  const [row] = await db.query<{ first: number | null }>(
    `select coalesce(
       (select max(block) + 1 from update_block where credential_id = $1),
       (select min(update_id) / ${BLOCK} from update_log where credential_id = $1)) as first`,
    [credentialId],
  )
  return row?.first ?? Number.POSITIVE_INFINITY
}

async function countBlocksBefore(db: Database, credentialId: number, past: number) {
  await db.query(
    `insert into update_block (credential_id, block, kind, api_key_id, updates)
     select credential_id, update_id / ${BLOCK}, kind, coalesce(api_key_id, 0), count(*)
       from update_log
      where credential_id = $1
        and update_id >= ${BLOCK} * (
              select coalesce(max(block) + 1, 0) from update_block where credential_id = $1)
        and update_id < ${BLOCK} * $2::bigint
      group by 1, 2, 3, 4
     on conflict do nothing`,
    [credentialId, past],
  )
}
