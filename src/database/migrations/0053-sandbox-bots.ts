/** Games, answers to join requests, managed bots, wrong passports, Stars moved without an invoice, ended subscriptions. */

import { Migration } from '@mikro-orm/migrations'

const statements = [
  `create table sandbox_game_score (
    chat_id bigint not null references sandbox_chat,
    bot_id bigint not null references sandbox_person,
    game text not null,
    person_id bigint not null references sandbox_person,
    score integer not null,
    at timestamptz not null default now(),
    primary key (chat_id, bot_id, game, person_id))`,
  `create index sandbox_game_score_bot on sandbox_game_score (bot_id)`,
  `create index sandbox_game_score_person on sandbox_game_score (person_id)`,
  // The bot that answers in the administrators' place.
  'alter table sandbox_chat add join_bot_id bigint references sandbox_person',
  `alter table sandbox_join_request
     add query text unique,
     add bot_id bigint references sandbox_person,
     add web_app_url text`,
  // No reference: chats are deleted before their people.
  'alter table sandbox_person add personal_chat_id bigint',
  'create index sandbox_join_request_person on sandbox_join_request (person_id)',
  `create table sandbox_managed_bot (
    bot_id bigint primary key references sandbox_person,
    manager_id bigint not null references sandbox_person,
    owner_id bigint not null references sandbox_person,
    -- Not hashed: its manager may read it at any time.
    token text not null unique,
    is_restricted boolean not null default false,
    added bigint[] not null default '{}')`,
  'create index sandbox_managed_bot_owner on sandbox_managed_bot (owner_id)',
  'create index sandbox_managed_bot_manager on sandbox_managed_bot (manager_id)',
  `create table sandbox_passport_error (
    person_id bigint not null references sandbox_person,
    bot_id bigint not null references sandbox_person,
    errors jsonb not null,
    at timestamptz not null default now(),
    primary key (person_id, bot_id))`,
  `create table sandbox_star_entry (
    id text primary key,
    person_id bigint not null references sandbox_person,
    at timestamptz not null,
    amount bigint not null,
    is_incoming boolean not null,
    -- Whom they came from or went to: a person or a channel.
    partner_id bigint references sandbox_person,
    chat_id bigint references sandbox_chat,
    purpose text not null,
    details jsonb not null)`,
  'create index sandbox_star_entry_person on sandbox_star_entry (person_id, at)',
  `create index sandbox_member_subscribed on sandbox_member (subscribed_until)
    where subscribed_until is not null`,
]

export class SandboxBots extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
