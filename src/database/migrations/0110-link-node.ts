/** Which start of a process has a flow of linking under way: the others pass its requests on to that one. */
import { Migration } from '@mikro-orm/migrations'

export class LinkNode extends Migration {
  override up(): void {
    // No foreign key: the rows of nodes that have ended are removed.
    this.addSql('alter table link_session add column node integer')
  }
}
