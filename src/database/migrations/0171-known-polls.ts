/** What was known of a key: that it has polled, and when it was last used. Apart from the new column, whose lock is short. */
import { Migration } from '@mikro-orm/migrations'

export class KnownPolls extends Migration {
  override up(): void {
    this.addSql(`update api_key k set polled_at = last_used_at
      where polled and last_used_at > now() - interval '1 day'
        and not exists (select from webhook w where w.api_key_id = k.id and w.sealed is not null)`)
  }
}
