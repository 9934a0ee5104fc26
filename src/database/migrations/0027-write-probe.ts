/** A row for each node, written to find out whether the database takes writes. */
import { Migration } from '@mikro-orm/migrations'

export class WriteProbe extends Migration {
  override up(): void {
    this.addSql(
      `create table write_probe (
         node text primary key,
         at timestamptz not null,
         padding bytea)`,
    )
    // Compressed, the padding would need no room and prove none.
    this.addSql(`alter table write_probe alter column padding set storage external`)
  }
}
