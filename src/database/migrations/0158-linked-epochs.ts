/** The epoch from which on an account has the session of its last link: an owner before it signs its own out. */
import { Migration } from '@mikro-orm/migrations'

export class LinkedEpochs extends Migration {
  override up(): void {
    this.addSql('alter table credential add column linked_epoch bigint not null default 0')
  }
}
