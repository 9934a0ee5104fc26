/** What went over the wire in attempts to deliver: sealed, a partition a day, and which attempts a key keeps. */
import { Migration } from '@mikro-orm/migrations'

export class WebhookExchanges extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
      create table webhook_exchange (
        at timestamptz not null,
        user_id bigint not null,
        api_key_id bigint not null,
        update_id bigint not null,
        attempt integer not null,
        sealed bytea not null
      ) partition by range (at)`)
    this.addSql(
      'create index webhook_exchange_of_update on webhook_exchange (api_key_id, update_id, at)',
    )
    this.addSql('create index webhook_exchange_of_key on webhook_exchange (api_key_id, at)')
    this.addSql('create index webhook_exchange_of_user on webhook_exchange (user_id, at)')
    this.addSql(`
      alter table api_key add column keeps_exchanges text not null default 'failed'
        check (keeps_exchanges in ('none', 'failed', 'all'))`)
    // The role that runs the service may not change the schema: only this function does so for it.
    this.addSql(`
      create function webhook_exchange_upkeep(retention interval) returns void
      language plpgsql security definer set search_path = public, pg_temp as $$
      declare
        today date := (now() at time zone 'UTC')::date;
        day date;
        part text;
      begin
        -- Two nodes must not create the same partition at once.
        perform pg_advisory_xact_lock(hashtext('webhook_exchange_upkeep'));
        for day in select generate_series(today - 1, today + 2, interval '1 day')::date loop
          part := format('webhook_exchange_%s', to_char(day, 'YYYYMMDD'));
          continue when to_regclass(part) is not null;
          execute format('create table %I partition of webhook_exchange for values from (%L) to (%L)',
            part, day || ' 00:00Z', (day + 1) || ' 00:00Z');
        end loop;
        for part in
          select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = 'webhook_exchange'::regclass
            and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= ((now() - retention) at time zone 'UTC')::date
        loop
          execute format('drop table %I', part);
        end loop;
      end $$`)
  }
}
