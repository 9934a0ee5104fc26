/** The owner's epoch beside what the owner writes: each write of the row is checked against it under the row's own lock. */
import { Migration } from '@mikro-orm/migrations'

export class EpochOfTheRow extends Migration {
  override async up(): Promise<void> {
    this.addSql('alter table credential add column epoch bigint not null default 0')
    this.addSql(`update credential c set epoch = l.epoch from credential_log l
      where l.credential_id = c.id and l.epoch <> 0`)
    this.addSql(`comment on column credential.epoch is
      'a copy of credential_log.epoch, moved by the same statement; locking the log here would hold up its appends'`)
  }

  override async down(): Promise<void> {
    this.addSql('alter table credential drop column epoch')
  }
}
