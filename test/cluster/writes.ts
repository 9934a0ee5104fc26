/** Which process of a node has written each row of the update log, and which node owned the account by then: a trigger keeps both. */
import type { Database, Queryable } from '../../src/database/database.ts'

/** An update as it was stored, in order. */
export interface Write {
  readonly updateId: number
  readonly epoch: number
  /** The node that owned the account when the row was written, and which start of it. */
  readonly owner: string
  readonly incarnation: number
  /** The node whose connection wrote it, and the number of its process: `one.2` is the second of the node `one`. */
  readonly writer: string
}

const SETTING = 'test.node'

/** An address whose connections tell the trigger which node they are of, and which of its processes, counted from 1. */
export function namedFor(databaseUrl: URL, node: string, process: number): string {
  const named = new URL(databaseUrl)
  named.searchParams.set('options', `-c ${SETTING}=${node}.${process}`)
  return named.href
}

/** To be called once the tables are there, and before there are accounts. */
export async function recordWrites(database: Database): Promise<void> {
  await database.query(
    `create table test_write (credential_id bigint, update_id bigint, epoch bigint, owner int, writer text,
       primary key (credential_id, update_id))`,
  )
  // The row of the epoch is locked by the statement that stores, so this reads what that has judged by.
  await database.query(`create function test_note_write() returns trigger language plpgsql as $$
    begin
      insert into test_write
        select new.credential_id, new.update_id, l.epoch, l.owner, current_setting('${SETTING}', true)
          from credential_log l where l.credential_id = new.credential_id;
      return null;
    end $$`)
  await database.query(`create trigger test_note_write after insert on update_log
    for each row execute function test_note_write()`)
}

export const writesOf = (database: Queryable, credentialId: number): Promise<Write[]> =>
  database.query<Write>(
    `select w.update_id as "updateId", w.epoch, coalesce(n.name, '') as owner, w.owner as incarnation,
            coalesce(w.writer, '') as writer
       from test_write w left join node n on n.id = w.owner
      where w.credential_id = $1 order by w.update_id`,
    [credentialId],
  )
