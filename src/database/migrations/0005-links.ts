/** Link flows: every step is stored before it is answered. */
import { Migration } from '@mikro-orm/migrations'

export class Links extends Migration {
  override async up(): Promise<void> {
    this.addSql(`create table link_session (
      id text primary key,
      user_id bigint not null references app_user,
      platform text not null,
      method text not null,
      state text not null,
      step jsonb,
      stored bytea,
      attempts_left integer not null,
      reason text,
      relinks bigint references credential,
      credential_id bigint references credential,
      resend_at timestamptz,
      expires_at timestamptz not null,
      created_at timestamptz not null default now())`)
    this.addSql(`create index link_session_user on link_session (user_id, created_at desc)`)
    this.addSql(`create index link_session_expiry on link_session (expires_at)
      where state in ('code_sent', 'password_needed', 'waiting')`)
  }
}
