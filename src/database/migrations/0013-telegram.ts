/** Telegram accounts: whom they have seen, and in which chat a message was that the network names by its id alone. */
import { Migration } from '@mikro-orm/migrations'

export class Telegram extends Migration {
  override async up(): Promise<void> {
    // `complete` is what the network said of the peer, in its own encoding.
    this.addSql(`create table telegram_peer (
      credential_id bigint not null,
      id bigint not null,
      access_hash text not null,
      is_min boolean not null,
      complete bytea not null,
      updated_at timestamptz not null default now(),
      primary key (credential_id, id))`)
    // A message through which somebody can be named whom the network showed in outline only.
    this.addSql(`create table telegram_reference (
      credential_id bigint not null,
      peer_id bigint not null,
      chat_id bigint not null,
      message_id integer not null,
      primary key (credential_id, peer_id))`)
    this.addSql(`create table telegram_message (
      credential_id bigint not null,
      message_id integer not null,
      chat_id bigint not null,
      at timestamptz not null default now(),
      primary key (credential_id, message_id))`)
    this.addSql('create index telegram_message_age on telegram_message using brin (at)')
  }

  override async down(): Promise<void> {
    for (const table of ['telegram_message', 'telegram_reference', 'telegram_peer']) {
      this.addSql(`drop table ${table}`)
    }
  }
}
