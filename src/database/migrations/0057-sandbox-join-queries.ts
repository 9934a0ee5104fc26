/** The sandbox learns bots that answer those who ask to join a chat, and personal channels in profiles. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  // The bot that answers in the administrators' place.
  'alter table sandbox_chat add join_bot_id bigint references sandbox_person',
  `alter table sandbox_join_request
     add query text unique,
     add bot_id bigint references sandbox_person,
     add web_app_url text`,
  // No reference: chats are deleted before their people.
  'alter table sandbox_person add personal_chat_id bigint',
  'create index sandbox_join_request_person on sandbox_join_request (person_id)',
]

export class SandboxJoinQueries extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
