/** Which accounts an incident holds, whom a user wants to be told of incidents, and what has to be told. */
import { Migration } from '@mikro-orm/migrations'

export class AlertNotifications extends Migration {
  override up(): void {
    this.addSql(`
      create table incident_account (
        credential_id bigint primary key,
        incident_id bigint not null references incident on delete cascade,
        left_at timestamptz
      )`)
    this.addSql('create index incident_account_incident on incident_account (incident_id)')
    // What is open now keeps its accounts, or it would be resolved and opened anew.
    this.addSql(`
      insert into incident_account (credential_id, incident_id)
      select c.id, i.id from incident i
        join credential c on c.user_id = i.user_id and coalesce(c.reason, c.state) = i.subject
       where i.resolved_at is null and i.affected > 0 and c.troubled_since is not null
         and c.deleting_at is null and c.deactivated_at is null`)
    this.addSql(`alter table incident
      add column told_at timestamptz, add column told_affected int not null default 0`)
    this.addSql(`
      create table alert_setting (
        user_id bigint primary key,
        minutes int not null default 5,
        channels text[] not null default '{}',
        api_key_id bigint,
        sealed bytea,
        updated_at timestamptz not null default now()
      )`)
    this.addSql(`
      create table alert_notification (
        id bigint generated always as identity primary key,
        user_id bigint not null,
        incident_id bigint references incident on delete cascade,
        channel text not null,
        event text not null,
        affected int not null default 0,
        state text not null default 'waiting',
        attempts int not null default 0,
        code text,
        detail text,
        created_at timestamptz not null,
        next_at timestamptz not null,
        ended_at timestamptz
      )`)
    this.addSql(`create index alert_notification_due on alert_notification (next_at)
      where state = 'waiting'`)
    this.addSql('create index alert_notification_user on alert_notification (user_id, id)')
    this.addSql(
      'create index alert_notification_incident on alert_notification (incident_id, channel, id)',
    )
    this.addSql(`create index alert_notification_ended on alert_notification (ended_at)
      where ended_at is not null`)
  }
}
