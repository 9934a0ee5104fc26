/** The sandbox learns general topics, titles and tags, banned senders, boosts, verification and emoji statuses. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  `alter table sandbox_chat
     add general_name text,
     add general_closed boolean not null default false,
     add general_hidden boolean not null default false,
     add verification jsonb`,
  'alter table sandbox_member add tag text',
  // "emoji_managers": the accounts that may set the person's status.
  `alter table sandbox_person
     add verification jsonb,
     add emoji_status jsonb,
     add emoji_managers bigint[] not null default '{}'`,
  `create table sandbox_sender_ban (
    chat_id bigint not null references sandbox_chat,
    sender_id bigint not null references sandbox_chat,
    primary key (chat_id, sender_id))`,
  `create table sandbox_boost (
    id text primary key,
    chat_id bigint not null references sandbox_chat,
    person_id bigint not null references sandbox_person,
    at timestamptz not null,
    expires_at timestamptz not null)`,
  'create index sandbox_boost_chat on sandbox_boost (chat_id, person_id)',
]

export class SandboxAdministration extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
