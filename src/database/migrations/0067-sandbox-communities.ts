/** The sandbox learns communities: chats and bots that belong together. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  `create table sandbox_community (
    id bigint generated always as identity (start with 1000001) primary key,
    user_id bigint not null references app_user,
    owner_id bigint not null references sandbox_person,
    name text not null)`,
  'create index sandbox_community_owner on sandbox_community (owner_id)',
  // No references: chats and people are deleted in any order.
  'alter table sandbox_chat add community_id bigint',
  'alter table sandbox_person add community_id bigint',
  `create index sandbox_chat_community on sandbox_chat (community_id)
    where community_id is not null`,
  `create index sandbox_person_community on sandbox_person (community_id)
    where community_id is not null`,
]

export class SandboxCommunities extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
