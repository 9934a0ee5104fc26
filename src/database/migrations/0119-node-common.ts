/** What all nodes have to have in common, as each has it: the address, names of the keys, marks of the files' place. */
import { Migration } from '@mikro-orm/migrations'

export class NodeCommon extends Migration {
  override up(): void {
    // Null for nodes of earlier versions, which do not say.
    this.addSql('alter table node add column common jsonb')
  }
}
