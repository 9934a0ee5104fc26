/** The sandbox learns inline mode: queries with their answers, prepared messages and open web apps. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  `create table sandbox_inline_query (
    id bigint generated always as identity (start 5000000000) primary key,
    person_id bigint not null references sandbox_person,
    bot_id bigint not null references sandbox_person,
    chat_id bigint not null references sandbox_chat,
    query jsonb not null,
    answer jsonb,
    asked_at timestamptz not null default now(),
    cached_until timestamptz)`,
  // Other people who write the same are looked up here.
  `create index sandbox_inline_query_answer
    on sandbox_inline_query (bot_id, (query ->> 'text'), cached_until) where answer is not null`,
  `create index sandbox_inline_query_person on sandbox_inline_query (person_id)`,
  `create table sandbox_prepared_message (
    id text primary key,
    person_id bigint not null references sandbox_person,
    bot_id bigint not null references sandbox_person,
    result jsonb not null,
    places text[] not null,
    expires_at timestamptz not null)`,
  `create index sandbox_prepared_message_person on sandbox_prepared_message (person_id)`,
  `create table sandbox_web_app (
    id text primary key,
    person_id bigint not null references sandbox_person,
    bot_id bigint not null references sandbox_person,
    chat_id bigint not null references sandbox_chat,
    is_answered boolean not null default false,
    expires_at timestamptz not null)`,
  `create index sandbox_web_app_person on sandbox_web_app (person_id)`,
]

export class SandboxInline extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
