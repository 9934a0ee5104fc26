/** The sandbox learns bots that other bots manage, and mistakes in passports. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
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
]

export class SandboxManagedBots extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
