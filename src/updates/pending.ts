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

/** A range of ids to count, and the question to which it belongs. */
interface Part extends Segment {
  readonly credentialId: number
  readonly apiKeyId: number
  readonly place: number
}

/** The part that one statement counts: rows from id to id, or whole blocks from number to number. */
interface Piece extends Part {
  readonly isWhole: boolean
}

export async function countPending(db: Database, question: PendingQuestion): Promise<number> {
  const [count = 0] = await countEachPending(db, [question])
  return count
}

/** One count for each question, in their order. A statement counts for many of them, except over long ranges of rows. */
export async function countEachPending(
  db: Database,
  questions: readonly PendingQuestion[],
): Promise<number[]> {
  const open = questions.filter(({ cursor, next }) => cursor < next - 1)
  if (open.length === 0) return questions.map(() => 0)
  const oldest = await oldestOf(
    db,
    open.map(({ credentialId }) => credentialId),
  )
  const parts = questions.flatMap(({ credentialId, apiKeyId, cursor, filter, next }, place) => {
    const first = oldest.get(credentialId)
    if (first === undefined || cursor >= next - 1) return []
    const some = segments(filter, Math.max(cursor + 1, first), next)
    return some.map((segment): Part => ({ ...segment, credentialId, apiKeyId, place }))
  })
  const counts = await countParts(db, parts)
  return questions.map((_, place) => counts.get(place) ?? 0)
}

async function oldestOf(
  db: Database,
  credentialIds: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await db.query<{ id: number; oldest: number | null }>(
    `select id, (select min(update_id) from update_log where credential_id = id) as oldest
       from unnest($1::bigint[]) as asked (id)`,
    [[...new Set(credentialIds)]],
  )
  return new Map(rows.flatMap(({ id, oldest }) => (oldest === null ? [] : [[id, oldest]])))
}

/** Counts the updates in these runs of ids (first and last of each) that the key wants. */
export async function countWanted(
  db: Database,
  { credentialId, apiKeyId, filter, next }: PendingQuestion,
  runs: readonly (readonly [number, number])[],
): Promise<number> {
  const parts = runs.flatMap(([from, to]) => segments(filter, from, Math.min(to + 1, next)))
  const counts = await countParts(
    db,
    parts.map((part) => ({ ...part, credentialId, apiKeyId, place: 0 })),
  )
  return counts.get(0) ?? 0
}

/** Sums by the places of the questions. */
async function countParts(
  db: Database,
  parts: readonly Part[],
): Promise<ReadonlyMap<number, number>> {
  const pieces = parts.flatMap(piecesOf).filter(({ from, until }) => from < until)
  const whole = pieces.filter(({ isWhole }) => isWhole)
  const rows = pieces.filter(({ isWhole }) => !isWhole)
  await countBlocksOf(db, whole)
  const sums = new Map<number, number>()
  for (const [statement, some, most] of [
    [inRows, rows.filter((piece) => !isLong(piece)), PIECES_AT_ONCE] as const,
    [inRows, rows.filter(isLong), 1] as const,
    [inBlocks, whole, PIECES_AT_ONCE] as const,
  ]) {
    for (let at = 0; at < some.length; at += most) {
      const found = await countPieces(db, statement, some.slice(at, at + most))
      for (const { place, updates } of found) sums.set(place, (sums.get(place) ?? 0) + updates)
    }
  }
  return sums
}

function piecesOf({ others, ...part }: Part): Piece[] {
  if (others) {
    // Blocks count all kinds without a number as one: those wanted by name are counted row by row.
    const named = { ...part, kinds: OTHER_KINDS, others, isWhole: false }
    return [...piecesOf({ ...part, kinds: part.kinds - OTHER_KINDS }), named]
  }
  const firstWhole = Math.ceil(part.from / BLOCK)
  const pastWhole = Math.floor(part.until / BLOCK)
  if (pastWhole - firstWhole < 2) return [{ ...part, isWhole: false }]
  return [
    { ...part, isWhole: true, from: firstWhole, until: pastWhole },
    { ...part, isWhole: false, until: firstWhole * BLOCK },
    { ...part, isWhole: false, from: pastWhole * BLOCK },
  ]
}

/** So that a statement stays within its time limit: its pieces have 2,000 rows at most, or a row for each block. */
const PIECES_AT_ONCE = 200

/** Counted in a statement of its own: where kinds are wanted by name, it may have all unread rows of an account. */
const isLong = ({ from, until }: Piece) => until - from > 2 * BLOCK

const inRows = `select count(*) as updates from update_log u
   where u.credential_id = k.credential_id and u.update_id >= k.start and u.update_id < k.past
     and ${isOneOf('u', 'k.kinds', 'k.others')} and u.api_key_id is distinct from k.api_key_id`

const inBlocks = `select coalesce(sum(b.updates), 0)::bigint as updates from update_block b
   where b.credential_id = k.credential_id and b.block >= k.start and b.block < k.past
     and (1::bigint << b.kind) & k.kinds <> 0 and b.api_key_id <> k.api_key_id`

const countPieces = (db: Database, counting: string, pieces: readonly Piece[]) =>
  db.query<{ place: number; updates: number }>(
    `select k.place, counted.updates
       from unnest($1::int[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::jsonb[])
              as k (place, credential_id, api_key_id, start, past, kinds, others)
      cross join lateral (${counting}) counted`,
    [
      pieces.map(({ place }) => place),
      pieces.map(({ credentialId }) => credentialId),
      pieces.map(({ apiKeyId }) => apiKeyId),
      ...columnsOf(pieces),
    ],
  )

async function countBlocksOf(db: Database, whole: readonly Piece[]): Promise<void> {
  const past = new Map<number, number>()
  for (const { credentialId, until } of whole) {
    past.set(credentialId, Math.max(until, past.get(credentialId) ?? 0))
  }
  for (const [credentialId, until] of past) await countBlocks(db, credentialId, until)
}

const BLOCKS_AT_ONCE = 200

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
