/** Parameters and answers of calls of bots: sealed, a partition a day, and of which calls a key keeps them. */
import { Migration } from '@mikro-orm/migrations'

export class CallExchanges extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
      create table call_exchange (
        at timestamptz(3) not null,
        user_id bigint not null,
        api_key_id bigint not null,
        request_id text not null,
        sealed bytea not null
      ) partition by range (at)`)
    this.addSql(
      'create index call_exchange_of_request on call_exchange (api_key_id, request_id, at)',
    )
    this.addSql('create index call_exchange_of_user on call_exchange (user_id, at)')
    this.addSql(`
      alter table api_key add column keeps_calls text not null default 'failed'
        check (keeps_calls in ('none', 'failed', 'all'))`)
    // The role that runs the service may not change the schema: only this function does so for it.
    this.addSql(`
      create function call_exchange_upkeep(retention interval) returns void
      language plpgsql security definer set search_path = public, pg_temp as $$
      declare
        today date := (now() at time zone 'UTC')::date;
        day date;
        part text;
      begin
        -- Two nodes must not create the same partition at once.
        perform pg_advisory_xact_lock(hashtext('call_exchange_upkeep'));
        for day in select generate_series(today - 1, today + 2, interval '1 day')::date loop
          part := format('call_exchange_%s', to_char(day, 'YYYYMMDD'));
          continue when to_regclass(part) is not null;
          execute format('create table %I partition of call_exchange for values from (%L) to (%L)',
            part, day || ' 00:00Z', (day + 1) || ' 00:00Z');
        end loop;
        for part in
          select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = 'call_exchange'::regclass
            and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= ((now() - retention) at time zone 'UTC')::date
        loop
          execute format('drop table %I', part);
        end loop;
      end $$`)
  }
}
