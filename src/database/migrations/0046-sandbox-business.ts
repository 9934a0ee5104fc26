/** The sandbox learns business connections, gifts and Stars. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  `create table sandbox_business (
    id text primary key,
    person_id bigint not null references sandbox_person,
    account_id bigint not null references sandbox_person,
    at timestamptz not null,
    rights text[] not null,
    is_enabled boolean not null,
    unique (person_id, account_id))`,
  `alter table sandbox_person
     add stars bigint not null default 100000,
     add premium_until timestamptz,
     add gift_settings jsonb`,
  `create table sandbox_gift (
    id bigint primary key,
    user_id bigint not null,
    sticker jsonb not null,
    stars integer not null,
    upgrade_stars integer,
    total integer,
    remaining integer,
    upgrades integer not null default 0)`,
  'create index sandbox_gift_user on sandbox_gift (user_id)',
  // Owned by a person or by a channel.
  `create table sandbox_owned_gift (
    id text primary key,
    gift_id bigint not null references sandbox_gift,
    person_id bigint references sandbox_person,
    chat_id bigint references sandbox_chat,
    sender_id bigint references sandbox_person,
    at timestamptz not null,
    text jsonb not null,
    is_saved boolean not null default true,
    prepaid_stars integer,
    "unique" jsonb,
    check (num_nonnulls(person_id, chat_id) = 1))`,
  'create index sandbox_owned_gift_person on sandbox_owned_gift (person_id, at)',
  'create index sandbox_owned_gift_chat on sandbox_owned_gift (chat_id, at)',
]

export class SandboxBusiness extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
