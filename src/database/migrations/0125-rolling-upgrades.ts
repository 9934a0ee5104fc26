/** Which versions may use this database, and which protocol each node speaks: versions run side by side during an upgrade. */
import { Migration } from '@mikro-orm/migrations'

export class RollingUpgrades extends Migration {
  override up(): void {
    // A version may use the database if it knows this migration. Those before it refuse what they do not know anyway.
    this.addSql(`create table schema_minimum (
      only_row boolean primary key default true check (only_row),
      migration text not null)`)
    this.addSql(`insert into schema_minimum (migration) values ('0125-rolling-upgrades')`)
    // Nodes of earlier versions do not say: they speak the first one.
    this.addSql('alter table node add column protocol int not null default 1')
  }
}
