/** The sandbox learns direct messages of channels, and the posts that people suggest in them. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  // No references: chats are deleted in any order, and before their people.
  'alter table sandbox_chat add direct_of bigint, add direct_person bigint',
  `create unique index sandbox_chat_direct on sandbox_chat (direct_of, direct_person)
    where direct_of is not null`,
  `create table sandbox_suggested_post (
    chat_id bigint not null references sandbox_chat,
    message_id bigint not null,
    -- In Stars; they are kept back until the post has stood for a day.
    price bigint not null,
    publish_at timestamptz not null,
    post_id bigint,
    published_at timestamptz,
    settled_at timestamptz,
    primary key (chat_id, message_id))`,
  `create index sandbox_suggested_post_open on sandbox_suggested_post (publish_at)
    where settled_at is null`,
]

export class DirectMessages extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
