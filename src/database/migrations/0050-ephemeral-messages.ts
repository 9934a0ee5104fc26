/** Ephemeral messages of the sandbox, and which message a pressed button belongs to. */
import { Migration } from '@mikro-orm/migrations'

export class EphemeralMessages extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
      create table sandbox_ephemeral (
        ephemeral_id bigint generated always as identity primary key,
        chat_id bigint not null references sandbox_chat,
        sender_id bigint not null references sandbox_person,
        receiver_id bigint not null references sandbox_person,
        request_id text not null,
        at timestamptz not null default now(),
        edited_at timestamptz,
        version integer not null default 1,
        content jsonb not null,
        buttons jsonb,
        reply_to bigint,
        topic bigint,
        is_protected boolean not null default false,
        replaces bigint)`)
    this.addSql('create index sandbox_ephemeral_chat on sandbox_ephemeral (chat_id)')
    this.addSql('create index sandbox_ephemeral_receiver on sandbox_ephemeral (receiver_id)')
    this.addSql(
      'create unique index sandbox_ephemeral_request on sandbox_ephemeral (sender_id, request_id)',
    )
    this.addSql(`
      alter table sandbox_callback add column chat_id bigint, add column message_id bigint,
        add column ephemeral_id bigint`)
  }
}
