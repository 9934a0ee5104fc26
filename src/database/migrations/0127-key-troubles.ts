/** Finds the webhooks that fail, rest or are suspended among all, for the list of keys with trouble. */
import { Migration } from '@mikro-orm/migrations'

export class KeyTroubles extends Migration {
  override up(): void {
    this.addSql(`create index webhook_troubled on webhook (api_key_id)
      where sealed is not null
        and (failing_since is not null or due_at is not null or suspended_at is not null)`)
  }
}
