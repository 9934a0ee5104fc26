/** How a node was found to have ended: of one that was only silent, or cut off, sessions may last a moment longer. */
import { Migration } from '@mikro-orm/migrations'

export class NodeEnds extends Migration {
  override up(): void {
    this.addSql('alter table node add column ended_by text')
  }
}
