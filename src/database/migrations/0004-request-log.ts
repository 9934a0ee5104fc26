/** The request log, one partition a day, and the hourly usage figures. */
import { Migration } from '@mikro-orm/migrations'

export class RequestLog extends Migration {
  override up(): void {
    this.addSql(`
      create table request_log (
        at timestamptz(3) not null,
        id bigint generated always as identity,
        request_id text not null,
        user_id bigint,
        api_key_id bigint,
        credential_id bigint,
        method text not null,
        status smallint not null,
        error_code smallint,
        description text,
        duration_ms real not null,
        request_bytes bigint not null,
        response_bytes bigint not null,
        ip text not null,
        user_agent text
      ) partition by range (at)`)
    // Without a default partition the planner knows the partitions' order, so that a page needs no sort.
    this.addSql(`create index request_log_user on request_log (user_id, at desc, id desc)
      where user_id is not null`)
    this.addSql(`create index request_log_user_error on request_log (user_id, at desc, id desc)
      where user_id is not null and error_code is not null`)
    this.addSql(`create index request_log_key on request_log (api_key_id, at desc, id desc)
      where api_key_id is not null`)

    this.addSql(`
      create table usage_hour (
        user_id bigint not null,
        hour timestamptz(0) not null,
        credential_id bigint not null,
        api_key_id bigint not null,
        measure text not null,
        label text not null,
        amount bigint not null,
        primary key (user_id, hour, credential_id, api_key_id, measure, label)
      )`)
    this.addSql('create index usage_hour_age on usage_hour using brin (hour)')
    this.addSql(
      `comment on table usage_hour is 'credential_id and api_key_id are 0 where there is none'`,
    )

    // The role that runs the service may not change the schema: only this function does so for it.
    this.addSql(`
      create function request_log_upkeep(retention interval) returns void
      language plpgsql security definer set search_path = public, pg_temp as $$
      declare
        today date := (now() at time zone 'UTC')::date;
        day date;
        old record;
      begin
        -- Two nodes must not create the same partition at once.
        perform pg_advisory_xact_lock(hashtext('request_log_upkeep'));
        for day in select generate_series(today - 1, today + 2, interval '1 day')::date loop
          if to_regclass(format('request_log_%s', to_char(day, 'YYYYMMDD'))) is null then
            execute format(
              'create table request_log_%s partition of request_log for values from (%L) to (%L)',
              to_char(day, 'YYYYMMDD'), day || ' 00:00Z', (day + 1) || ' 00:00Z');
          end if;
        end loop;
        for old in
          select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = 'request_log'::regclass
            and to_date(right(c.relname, 8), 'YYYYMMDD') + 1
              <= ((now() - retention) at time zone 'UTC')::date
        loop
          execute format('drop table %I', old.relname);
        end loop;
      end $$`)
  }

  override down(): void {
    this.addSql('drop function request_log_upkeep(interval)')
    this.addSql('drop table usage_hour')
    this.addSql('drop table request_log')
  }
}
