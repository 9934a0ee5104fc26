/** The update log unpartitioned, by hash of the credential and by day: inserting, forgetting, and the indexes. */
import type { Pool } from 'pg'
import type { Finding } from './support/finding.ts'
import type { Stage } from './support/stage.ts'
import { megabytes, milliseconds, percentile, perSecond } from './support/statistics.ts'

const CREDENTIALS = 1_000
const DAYS = 10
const BATCH = 500
const ROWS_A_DAY = 40_000
const HASHES = 8

interface Variant {
  readonly name: string
  readonly table: string
  readonly key: string
  readonly partitions: readonly string[]
}

const days = Array.from({ length: DAYS }, (_, day) => day)
const variants: readonly Variant[] = [
  { name: 'none', table: 'log_whole', key: '', partitions: [] },
  {
    name: `hash of the credential (${HASHES})`,
    table: 'log_hash',
    key: 'partition by hash (credential_id)',
    partitions: Array.from(
      { length: HASHES },
      (_, rest) => `with (modulus ${HASHES}, remainder ${rest})`,
    ),
  },
  {
    name: `day (${DAYS})`,
    table: 'log_day',
    key: 'partition by list (day)',
    partitions: days.map((day) => `in (${day})`),
  },
]

export async function partitioning({ sql }: Stage): Promise<Finding[]> {
  for (const variant of variants) await create(sql, variant)
  const rates = new Map(variants.map((variant) => [variant, [] as number[]]))
  // In turn, so that whatever else the machine does meets all of them alike.
  for (const day of days) {
    for (const variant of variants) rates.get(variant)?.push(await fill(sql, variant, day))
  }
  const found: Finding[] = []
  for (const variant of variants) {
    const [unique, all] = await indexSizes(sql, variant)
    const forgotten = await forget(sql, variant)
    const inserted = perSecond(percentile(rates.get(variant) ?? [], 0.5), 'rows')
    found.push({
      what: `partitioned by ${variant.name}: insert; forget a day; unique index, all indexes`,
      ours: [inserted, forgotten, `${megabytes(unique)}, ${megabytes(all)}`].join('; '),
    })
  }
  return found
}

/** A partition by day has to have the day in every unique constraint: a repetition on another day passes. */
async function create(sql: Pool, { table, key, partitions }: Variant): Promise<void> {
  const day = table === 'log_day' ? ', day' : ''
  await sql.query(`create table ${table} (
    credential_id bigint not null, update_id bigint not null, source_key text not null,
    kind smallint not null, chat_id bigint, api_key_id bigint, trace_id text,
    at timestamptz not null default now(), day integer not null, payload text not null,
    primary key (credential_id, update_id${day}),
    constraint ${table}_source unique (credential_id, source_key${day})) ${key}`)
  for (const [index, values] of partitions.entries()) {
    await sql.query(`create table ${table}_${index} partition of ${table} for values ${values}`)
  }
}

/** One day: batches of many credentials, one durable statement each, as the group commit makes them. */
async function fill(sql: Pool, { table }: Variant, day: number): Promise<number> {
  const client = await sql.connect()
  const text = `insert into ${table}
      (credential_id, update_id, source_key, kind, chat_id, day, payload)
    select 1 + (n * 7919) % ${CREDENTIALS}, n, 'message:' || n, 0, 5001, $2,
           '"message":{"message_id":' || n || ',"text":"' || repeat('lorem ipsum ', 20) || '"}'
      from generate_series($1::bigint, $1::bigint + ${BATCH - 1}) as n`
  try {
    const began = performance.now()
    for (let row = day * ROWS_A_DAY; row < (day + 1) * ROWS_A_DAY; row += BATCH) {
      await client.query({ name: table, text, values: [row, day] })
    }
    return (1000 * ROWS_A_DAY) / (performance.now() - began)
  } finally {
    client.release()
  }
}

async function indexSizes(sql: Pool, { table }: Variant): Promise<[number, number]> {
  const { rows } = await sql.query(
    `select sum(pg_relation_size(i.indexrelid)) filter (where not i.indisprimary) as unique_size,
            sum(pg_relation_size(i.indexrelid)) as all_sizes
       from (select $1::regclass as relid union select relid from pg_partition_tree($1::regclass)) p
       join pg_index i on i.indrelid = p.relid`,
    [table],
  )
  return [Number(rows[0].unique_size), Number(rows[0].all_sizes)]
}

/** The oldest day: a partition dropped, or rows deleted by credential and the space made usable again. */
async function forget(sql: Pool, { table }: Variant): Promise<string> {
  const began = performance.now()
  if (table === 'log_day') {
    await sql.query(`drop table ${table}_0`)
    return milliseconds(performance.now() - began)
  }
  for (let credential = 1; credential <= CREDENTIALS; credential++) {
    const values = [credential, ROWS_A_DAY]
    const text = `delete from ${table} where credential_id = $1 and update_id < $2`
    await sql.query({ name: `${table}_delete`, text, values })
  }
  const deleted = performance.now()
  await sql.query(`vacuum ${table}`)
  return `${milliseconds(deleted - began)} + ${milliseconds(performance.now() - deleted)} vacuum`
}
