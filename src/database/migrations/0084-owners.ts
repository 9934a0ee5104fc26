/** Which start of a process owns a credential. Every change of the owner raises the epoch in the same statement. */
import { Migration } from '@mikro-orm/migrations'

export class Owners extends Migration {
  override up(): void {
    // No foreign key: the rows of nodes that have ended are removed, and an owner without a row has ended.
    this.addSql('alter table credential_log add column owner integer')
    this.addSql('create index credential_log_owner on credential_log (owner)')
  }
}
