/** When a key last polled; until now any saved cursor made it one that polls. Nodes of the version before write `polled`. */
import { Migration } from '@mikro-orm/migrations'

export class PolledAt extends Migration {
  override up(): void {
    this.addSql('alter table api_key add column polled_at timestamptz')
  }
}
