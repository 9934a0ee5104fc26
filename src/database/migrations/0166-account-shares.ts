/** Accounts that their owner shares with other users, and which of these hold the secret of a key. */
import { Migration } from '@mikro-orm/migrations'

export class AccountShares extends Migration {
  override up(): void {
    // Without a user it is an invitation: nothing tells the owner whether the phone has one before its user accepts. Nodes of
    // the version before erase users and accounts, too.
    this.addSql(`create table account_share (
      id bigserial primary key,
      credential_id bigint not null references credential on delete cascade,
      owner_id bigint not null references app_user on delete cascade,
      user_id bigint references app_user on delete cascade,
      phone_index bytea not null,
      phone_sealed bytea not null,
      role text not null check (role in ('viewer', 'developer')),
      created_at timestamptz not null default now(),
      accepted_at timestamptz,
      unique (credential_id, phone_index))`)
    this.addSql('create index account_share_of_user on account_share (user_id, credential_id)')
    this.addSql('create index account_share_of_owner on account_share (owner_id)')
    this.addSql(
      'create index account_share_invited on account_share (phone_index) where user_id is null',
    )
    this.addSql(`create table key_holder (
      api_key_id bigint not null references api_key on delete cascade,
      user_id bigint not null references app_user on delete cascade,
      has_made boolean not null default false,
      holds boolean not null default true,
      primary key (api_key_id, user_id))`)
    this.addSql('create index key_holder_of_user on key_holder (user_id)')
  }
}
