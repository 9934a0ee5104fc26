/** What more rules of alerts look at: how often an account has dropped out lately, and what troubles a node. */
import { Migration } from '@mikro-orm/migrations'

export class AlertRules extends Migration {
  override up(): void {
    this.addSql(`alter table credential
      add column drops int not null default 0, add column last_drop_at timestamptz`)
    // Drops that are a quarter of an hour apart are no loop. The trigger is part of the fenced write of the state.
    this.addSql(`
      create or replace function credential_troubled() returns trigger language plpgsql as $$
      declare
        was timestamptz := case when tg_op = 'UPDATE' then old.troubled_since end;
      begin
        new.troubled_since := case
          when new.state in ('active', 'deactivated') or new.machine_state like 'live.limited%' then null
          else coalesce(new.troubled_since, now()) end;
        if tg_op = 'UPDATE' and was is null and new.troubled_since is not null then
          new.drops := case
            when new.last_drop_at > now() - interval '15 minutes' then new.drops + 1 else 1 end;
          new.last_drop_at := now();
        end if;
        return new;
      end $$`)
    this.addSql(`create index credential_dropping on credential (last_drop_at) where drops >= 5`)
    this.addSql(
      'create index webhook_failing on webhook (failing_since) where failing_since is not null',
    )
    this.addSql('create index api_key_dropped on api_key (dropped_at) where dropped_at is not null')
    this.addSql(`
      create table node_trouble (
        node text not null,
        rule text not null,
        at timestamptz not null,
        primary key (node, rule)
      )`)
  }
}
