/** The sandbox learns topics of forums, sticker sets, and texts that are seen while they are written. */
import { Migration } from '@mikro-orm/migrations'

const forums = [
  `alter table sandbox_chat add is_forum boolean not null default false`,
  // A topic is named by the message that began it.
  `create table sandbox_topic (
    chat_id bigint not null references sandbox_chat,
    id bigint not null,
    creator_id bigint not null references sandbox_person,
    name text not null,
    icon_color integer not null,
    icon text,
    is_closed boolean not null default false,
    primary key (chat_id, id))`,
  `alter table sandbox_message add topic bigint`,
  `create index sandbox_message_topic on sandbox_message (chat_id, topic) where topic is not null`,
  `alter table sandbox_typing add topic bigint`,
]

const stickers = [
  `create table sandbox_sticker_set (
    name text primary key,
    title text not null,
    stickers jsonb not null)`,
  `create unique index sandbox_sticker_set_name on sandbox_sticker_set (lower(name))`,
]

const drafts = [
  // "after" is the last message of the chat before it: one that follows from the same person ends the draft.
  `create table sandbox_draft (
    chat_id bigint not null references sandbox_chat,
    person_id bigint not null references sandbox_person,
    draft bigint not null,
    text jsonb not null,
    after bigint not null,
    until timestamptz not null,
    primary key (chat_id, person_id, draft))`,
]

export class SandboxForums extends Migration {
  override up(): void {
    for (const statement of [...forums, ...stickers, ...drafts]) this.addSql(statement)
  }
}
