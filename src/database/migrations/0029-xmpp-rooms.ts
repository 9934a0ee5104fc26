/** The rooms that XMPP accounts are in: what is kept on their servers is the servers' to lose. */
import { Migration } from '@mikro-orm/migrations'

export class XmppRooms extends Migration {
  override async up(): Promise<void> {
    // `shared`: the room is among the bookmarks of the account's other devices. The password of a room is sealed.
    this.addSql(`create table xmpp_room (
      credential_id bigint not null,
      room text not null,
      nick text,
      password bytea,
      shared boolean not null default false,
      joined_at timestamptz not null default now(),
      primary key (credential_id, room))`)
  }

  override async down(): Promise<void> {
    this.addSql('drop table xmpp_room')
  }
}
