/** Views of the list of accounts that users keep under a name: words of a search may name a person, so they are sealed. */
import { Migration } from '@mikro-orm/migrations'

export class SavedViews extends Migration {
  override up(): void {
    this.addSql(`
      create table saved_view (
        id bigint generated always as identity primary key,
        user_id bigint not null,
        sealed bytea not null,
        created_at timestamptz not null default now()
      )`)
    this.addSql('create index saved_view_user on saved_view (user_id, id)')
  }
}
