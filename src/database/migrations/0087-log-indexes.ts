/** Smaller indexes of the logs: built beside those that they replace, which the next migration drops. */
import { Migration } from '@mikro-orm/migrations'

/** Ascending, so that pages are left full, and without the id: rows of one millisecond are sorted as they are read. */
const indexes: readonly (readonly [log: string, name: string, columns: string])[] = [
  ['request_log', 'of_user', '(user_id, at) where user_id is not null'],
  [
    'request_log',
    'of_user_failed',
    '(user_id, error_code, at) where user_id is not null and error_code is not null',
  ],
  ['request_log', 'of_key', '(api_key_id, at) where api_key_id is not null'],
  ['request_log', 'of_credential', '(credential_id, at) where credential_id is not null'],
  ['webhook_delivery', 'of_user', '(user_id, at)'],
  ['webhook_delivery', 'of_user_failed', '(user_id, at) where error is not null'],
  ['webhook_delivery', 'of_key', '(api_key_id, at)'],
  ['webhook_delivery', 'of_update', '(user_id, update_id, at)'],
]

export class LogIndexes extends Migration {
  override up(): void {
    // Writes of a running service wait for the partition of the day alone: it comes last, and the whole table only
    // gets the finished indexes of its partitions.
    this.addSql(`
      do $$
      declare
        given record;
        part record;
      begin
        perform pg_advisory_xact_lock(hashtext('request_log_upkeep')),
          pg_advisory_xact_lock(hashtext('webhook_delivery_upkeep'));
        create temporary table log_index (log text, name text, columns text) on commit drop;
        insert into log_index values
          ${indexes.map((one) => `(${one.map((text) => `'${text}'`).join(', ')})`).join(',\n          ')};
        create temporary table log_part on commit drop as
          select l.*, c.relname::text as part, right(c.relname, 8) as day
            from log_index l
            join pg_inherits i on i.inhparent = to_regclass(l.log)
            join pg_class c on c.oid = i.inhrelid;
        for part in
          select * from log_part order by day = to_char(now() at time zone 'UTC', 'YYYYMMDD'), day
        loop
          execute format('create index %I on %I %s', part.part || '_' || part.name, part.part, part.columns);
        end loop;
        for given in select * from log_index loop
          execute format('create index %I on only %I %s', given.log || '_' || given.name, given.log, given.columns);
          for part in select * from log_part where log = given.log and name = given.name loop
            execute format('alter index %I attach partition %I',
              given.log || '_' || given.name, part.part || '_' || part.name);
          end loop;
        end loop;
      end $$`)
  }
}
