/** Since when an account does not work, and the incidents that group such accounts. */
import { Migration } from '@mikro-orm/migrations'

export class Incidents extends Migration {
  override up(): void {
    this.addSql('alter table credential add column troubled_since timestamptz')
    // A limited account works again by itself at a time that is known. The trigger is part of the fenced write of the state.
    this.addSql(`
      create function credential_troubled() returns trigger language plpgsql as $$
      begin
        new.troubled_since := case
          when new.state in ('active', 'deactivated') or new.machine_state like 'live.limited%' then null
          else coalesce(new.troubled_since, now()) end;
        return new;
      end $$`)
    this.addSql(`
      create trigger credential_troubled before insert or update of state, machine_state on credential
        for each row execute function credential_troubled()`)
    this.addSql(`update credential set troubled_since = now()
      where state not in ('active', 'deactivated') and machine_state not like 'live.limited%'`)
    this.addSql(`create index credential_troubled_since on credential (troubled_since)
      where troubled_since is not null`)
    this.addSql(`
      create table incident (
        id bigint generated always as identity primary key,
        user_id bigint not null,
        rule text not null,
        subject text not null,
        state text not null,
        affected int not null,
        opened_at timestamptz not null,
        absent_since timestamptz,
        silenced_until timestamptz,
        resolved_at timestamptz
      )`)
    this.addSql(`create unique index incident_current on incident (user_id, rule, subject)
      where resolved_at is null`)
    this.addSql('create index incident_user on incident (user_id, id)')
    this.addSql(
      'create index incident_resolved on incident (resolved_at) where resolved_at is not null',
    )
  }
}
