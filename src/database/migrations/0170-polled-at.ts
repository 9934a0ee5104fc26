/** When a key last polled; until now any saved cursor made it one that polls. Nodes of the version before write `polled`. */
import { Migration } from '@mikro-orm/migrations'

export class PolledAt extends Migration {
  override up(): void {
    this.addSql('alter table api_key add column polled_at timestamptz')
    // What was known of a key: that it has polled, and when it was last used.
    this.addSql(`update api_key k set polled_at = last_used_at
      where polled and last_used_at > now() - interval '1 day'
        and not exists (select from webhook w where w.api_key_id = k.id and w.sealed is not null)`)
  }
}
