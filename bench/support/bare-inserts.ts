/** The bare counterpart of the log: the same rows into a table of the same shape, in batches, one after another. */
import type { Stage } from './stage.ts'

const columns = [
  'credential_id',
  'update_id',
  'source_key',
  'kind',
  'chat_id',
  'api_key_id',
  'trace_id',
  'payload',
] as const

const insert = {
  name: 'bare-insert',
  text: `insert into bare_log (${columns})
    select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::smallint[], $5::bigint[],
                         $6::bigint[], $7::text[], $8::text[])`,
}

/** Rows per second of repeating the newest `count` rows of these credentials, `group` of them a statement. */
export async function insertAgain(
  { sql }: Stage,
  credentialIds: readonly number[],
  count: number,
  group: number,
): Promise<number> {
  await sql.query(`drop table if exists bare_log`)
  await sql.query(
    `create table bare_log (like update_log including all) partition by hash (credential_id)`,
  )
  for (let rest = 0; rest < 8; rest++) {
    await sql.query(`create table bare_log_${rest} partition of bare_log
      for values with (modulus 8, remainder ${rest})`)
  }
  const { rows } = await sql.query(
    `select ${columns} from update_log where credential_id = any($1) order by at desc limit $2`,
    [credentialIds, count],
  )
  rows.reverse()
  const client = await sql.connect()
  try {
    const began = performance.now()
    for (let at = 0; at < rows.length; at += group) {
      const batch = rows.slice(at, at + group)
      await client.query({
        ...insert,
        values: columns.map((name) => batch.map((row) => row[name])),
      })
    }
    return (1000 * rows.length) / (performance.now() - began)
  } finally {
    client.release()
  }
}
