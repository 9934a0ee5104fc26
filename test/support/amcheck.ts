/** PostgreSQL's own check of its files: of every page, row and index of a database. */
import pg from 'pg'

/** Those of the server itself, and of the queues, too. */
const heaps = `select c.oid::regclass::text as name, v.msg
  from pg_class c, verify_heapam(c.oid, check_toast => true) v
 where c.relkind in ('r', 'm', 't') and c.relpersistence = 'p'`
const indexes = `select c.oid::regclass::text as name, a.amname as method
  from pg_class c join pg_am a on a.oid = c.relam join pg_index i on i.indexrelid = c.oid
 where c.relkind = 'i' and c.relpersistence = 'p' and i.indisvalid and a.amname in ('btree', 'gin')
 order by 1`
/** Every row has its entry, and of a unique index one only. It locks nothing that a service needs. */
const checks = {
  btree: 'select bt_index_check($1::regclass, heapallindexed => true, checkunique => true)',
  gin: 'select gin_index_check($1::regclass)',
}

interface Index {
  readonly name: string
  readonly method: keyof typeof checks
}

/** What is damaged, and how much was looked at. A page whose checksum is wrong fails the check that reads it. */
export async function examine(
  url: string,
): Promise<{ readonly damages: readonly string[]; readonly indexes: number }> {
  const client = new pg.Client({ connectionString: url })
  // The check under way fails with the same error.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('create extension if not exists amcheck')
    const damages = await client.query<{ name: string; msg: string }>(heaps).then(
      ({ rows }) => rows.map(({ name, msg }) => `${name}: ${msg}`),
      ({ message }: Error) => [message],
    )
    const { rows } = await client.query<Index>(indexes)
    for (const { name, method } of rows) {
      await client
        .query(checks[method], [name])
        .catch(({ message }: Error) => damages.push(`${name}: ${message}`))
    }
    return { damages, indexes: rows.length }
  } finally {
    await client.end()
  }
}
