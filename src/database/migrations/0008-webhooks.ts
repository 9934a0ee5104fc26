/** Webhooks with how they stand, the secrets that sign them, and the log of their attempts, one partition a day. */
import { Migration } from '@mikro-orm/migrations'

export class Webhooks extends Migration {
  override async up(): Promise<void> {
    this.addSql(`create table webhook (
      api_key_id bigint primary key references api_key on delete cascade,
      sealed bytea,
      shown_url text not null,
      ip_address text,
      max_connections integer not null,
      has_certificate boolean not null,
      set_at timestamptz not null default now(),
      suspended_at timestamptz,
      failures integer not null default 0,
      failing_since timestamptz,
      gone_since timestamptz,
      due_at timestamptz,
      last_error_at timestamptz,
      last_error_message text,
      last_success_at timestamptz)`)
    this.addSql(`comment on column webhook.sealed is
      'url, secret token and certificate; null once the receiver turned the webhook off'`)
    this.addSql('alter table api_key add column webhook_progress jsonb')
    this.addSql(`create table webhook_secret (
      api_key_id bigint primary key references api_key on delete cascade,
      sealed bytea not null,
      created_at timestamptz not null default now())`)

    this.addSql(`create table webhook_delivery (
      at timestamptz(3) not null,
      id bigint generated always as identity,
      user_id bigint not null,
      api_key_id bigint not null,
      update_id bigint not null,
      attempt integer not null,
      url text not null,
      status smallint,
      error text,
      duration_ms real not null,
      next_attempt_at timestamptz(3),
      trace_id text
    ) partition by range (at)`)
    this.addSql(`create index webhook_delivery_user
      on webhook_delivery (user_id, at desc, id desc)`)
    this.addSql(`create index webhook_delivery_key
      on webhook_delivery (api_key_id, at desc, id desc)`)

    // The role that runs the service may not change the schema: only this function does so for it.
    this.addSql(`
      create function webhook_delivery_upkeep(retention interval) returns void
      language plpgsql security definer set search_path = public, pg_temp as $$
      declare
        today date := (now() at time zone 'UTC')::date;
        day date;
        old record;
      begin
        -- Two nodes must not create the same partition at once.
        perform pg_advisory_xact_lock(hashtext('webhook_delivery_upkeep'));
        for day in select generate_series(today - 1, today + 2, interval '1 day')::date loop
          if to_regclass(format('webhook_delivery_%s', to_char(day, 'YYYYMMDD'))) is null then
            execute format('create table webhook_delivery_%s
                partition of webhook_delivery for values from (%L) to (%L)',
              to_char(day, 'YYYYMMDD'), day || ' 00:00Z', (day + 1) || ' 00:00Z');
          end if;
        end loop;
        for old in
          select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = 'webhook_delivery'::regclass
            and to_date(right(c.relname, 8), 'YYYYMMDD') + 1
              <= ((now() - retention) at time zone 'UTC')::date
        loop
          execute format('drop table %I', old.relname);
        end loop;
      end $$`)
  }

  override async down(): Promise<void> {
    this.addSql('drop function webhook_delivery_upkeep(interval)')
    this.addSql('drop table webhook_delivery')
    this.addSql('drop table webhook_secret')
    this.addSql('alter table api_key drop column webhook_progress')
    this.addSql('drop table webhook')
  }
}
