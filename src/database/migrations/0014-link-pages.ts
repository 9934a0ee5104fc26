/** Pages on which an account's owner answers a link flow; what opens one is kept as a hash. */
import { Migration } from '@mikro-orm/migrations'

export class LinkPagesTable extends Migration {
  override async up(): Promise<void> {
    this.addSql(`create table link_page (
      session_id text primary key references link_session on delete cascade,
      hash bytea not null unique,
      created_at timestamptz not null default now())`)
  }

  override async down(): Promise<void> {
    this.addSql('drop table link_page')
  }
}
