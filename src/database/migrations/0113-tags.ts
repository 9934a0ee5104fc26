/** Words that users put on their accounts, to find them by. */
import { Migration } from '@mikro-orm/migrations'

export class Tags extends Migration {
  override up(): void {
    this.addSql(`alter table credential add column tags text[] not null default '{}'`)
    this.addSql(`create index credential_tagged on credential (user_id, id) include (tags)
      where tags <> '{}' and deleting_at is null and deactivated_at is null`)
  }
}
