/** Seals the facts of linked accounts (names, phone, username), and removes those of deleted accounts. */
import { Migration } from '@mikro-orm/migrations'

export class SealedAccounts extends Migration {
  override async up(): Promise<void> {
    this.addSql(`alter table credential
      alter column account drop not null,
      add column account_sealed bytea`)
    // The key is not at hand here: the service seals the rest when it starts.
    this.addSql(`comment on column credential.account is
      'of a version before account_sealed; null once the service has sealed it'`)
    this.addSql(`comment on column credential.native_id is 'a keyed hash; empty once deleted'`)
    // Numbers of the sandbox name nobody, and a later migration still looks for them.
    this.addSql(`update credential set account = null,
      native_id = case when platform = 'sandbox' then native_id else '' end
      where deactivated_at is not null`)
    this.addSql(`create index credential_unsealed on credential (id) where account is not null`)
  }
}
