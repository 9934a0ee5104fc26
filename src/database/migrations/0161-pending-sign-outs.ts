/** Sessions that are left on their networks until they are signed out; how often an account was linked; the ids of calls with a key. */
import { Migration } from '@mikro-orm/migrations'

export class PendingSignOuts extends Migration {
  override up(): void {
    this.addSql('alter table credential add column links integer not null default 0')
    this.addSql('alter table idempotent_call add column call_id uuid')
    this.addSql(`
      create table pending_sign_out (
        id uuid primary key,
        user_id bigint not null references app_user on delete cascade,
        credential_id bigint not null references credential on delete cascade,
        platform text not null,
        link integer not null,
        owner integer,
        secrets bytea not null,
        tries integer not null default 0,
        created_at timestamptz not null default now(),
        due_at timestamptz not null
      )`)
    this.addSql('create index pending_sign_out_due on pending_sign_out (due_at)')
    this.addSql('create index pending_sign_out_of_credential on pending_sign_out (credential_id)')
    this.addSql('create index pending_sign_out_of_user on pending_sign_out (user_id)')
  }
}
