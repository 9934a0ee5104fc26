/** When the name of an account changed last: a search reads only names that changed since the one before. */
import { Migration } from '@mikro-orm/migrations'

export class IdentityChanges extends Migration {
  override up(): void {
    // The transaction, not the time: what is not visible yet has a number that is not below that of the oldest one open.
    this.addSql(
      'alter table credential add column identity_at xid8 not null default pg_current_xact_id()',
    )
    this.addSql('create index credential_identity_at on credential (user_id, identity_at, id)')
    this.addSql(`
      create function credential_identity_changed() returns trigger language plpgsql as $$
      begin
        new.identity_at := pg_current_xact_id();
        return new;
      end $$`)
    this.addSql(`
      create trigger credential_identity_changed before update of account, account_sealed on credential
        for each row
        when (old.account is distinct from new.account
          or old.account_sealed is distinct from new.account_sealed)
        execute function credential_identity_changed()`)
  }
}
