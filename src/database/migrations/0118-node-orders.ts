/** What operators order of nodes: that one gives its accounts away, and that an account runs on a certain one. */
import { Migration } from '@mikro-orm/migrations'

export class NodeOrders extends Migration {
  override up(): void {
    this.addSql('alter table node add column drain boolean not null default false')
    this.addSql('alter table credential add column pinned_node text')
    this.addSql(`create index credential_pinned on credential (id, pinned_node)
      where pinned_node is not null`)
  }
}
