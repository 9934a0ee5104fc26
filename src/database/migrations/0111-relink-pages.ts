/** Pages on which the owners of accounts link them again: made by an action on many accounts, opened later. */
import { Migration } from '@mikro-orm/migrations'

export class RelinkPagesTable extends Migration {
  override up(): void {
    this.addSql(`
      create table relink_page (
        action_id bigint not null references bulk_action on delete cascade,
        position int not null,
        user_id bigint not null,
        credential_id bigint not null,
        platform text not null,
        hash bytea not null unique,
        sealed bytea not null,
        session_id text,
        begun_at timestamptz,
        created_at timestamptz not null default now(),
        expires_at timestamptz not null,
        primary key (action_id, position)
      )`)
    this.addSql('create index relink_page_user on relink_page (user_id)')
    this.addSql('create index relink_page_expires on relink_page (expires_at)')
  }
}
