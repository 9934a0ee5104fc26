/** The deletion of a credential is a fact before it is carried out; a new link of the account need not wait for it. */
import { Migration } from '@mikro-orm/migrations'

export class Deletions extends Migration {
  override async up(): Promise<void> {
    this.addSql('alter table credential add column deleting_at timestamptz')
    this.addSql('update credential set deleting_at = deactivated_at')
    this.addSql('drop index credential_account')
    this.addSql(`create unique index credential_account on credential (platform, native_id, user_id)
      where deleting_at is null`)
  }
}
