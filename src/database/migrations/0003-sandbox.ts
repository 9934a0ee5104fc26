/** The built-in messenger: people, chats, messages, and what waits for the devices linked to a person. */
import { Migration } from '@mikro-orm/migrations'

const people = [
  `create sequence sandbox_person_id start 1000000`,
  // "events" numbers the person's queue: a counter in a row is handed out in the order of the commits.
  `create table sandbox_person (
    id bigint primary key default nextval('sandbox_person_id'),
    phone text not null unique,
    username text,
    first_name text not null,
    last_name text,
    language_code text,
    password_hash text,
    password_hint text,
    deactivated boolean not null default false,
    banned boolean not null default false,
    faults jsonb not null default '{}',
    sessions integer not null default 0,
    events bigint not null default 0,
    created_at timestamptz not null default now()) with (fillfactor = 70)`,
  `create unique index sandbox_person_username on sandbox_person (lower(username))`,
  `create table sandbox_block (
    person_id bigint not null references sandbox_person,
    blocked_id bigint not null references sandbox_person,
    primary key (person_id, blocked_id))`,
  // The messenger's own voice, which sends the one-time codes.
  `insert into sandbox_person (id, phone, first_name) values (777000, '+42777', 'Sandbox')`,
]

const chats = [
  `create sequence sandbox_group_id`,
  // A private chat has no name of its own: each side calls it by the other's id.
  `create table sandbox_chat (
    id bigint generated always as identity primary key,
    kind text not null,
    native bigint unique,
    low_id bigint references sandbox_person,
    high_id bigint references sandbox_person,
    title text,
    username text,
    description text,
    last_message bigint not null default 0,
    created_at timestamptz not null default now(),
    unique (low_id, high_id)) with (fillfactor = 50)`,
  `create unique index sandbox_chat_username on sandbox_chat (lower(username))`,
  `create table sandbox_member (
    chat_id bigint not null references sandbox_chat,
    person_id bigint not null references sandbox_person,
    role text not null default 'member',
    primary key (chat_id, person_id))`,
  `create index sandbox_member_person on sandbox_member (person_id)`,
  `create table sandbox_message (
    chat_id bigint not null,
    id bigint not null,
    sender_id bigint not null,
    request_id text not null,
    at timestamptz not null default now(),
    edited_at timestamptz,
    version integer not null default 1,
    content jsonb not null,
    reply_to bigint,
    forward jsonb,
    buttons jsonb,
    deleted_at timestamptz,
    primary key (chat_id, id))`,
  `create unique index sandbox_message_request on sandbox_message (sender_id, request_id)`,
  `create table sandbox_typing (
    chat_id bigint not null references sandbox_chat,
    person_id bigint not null references sandbox_person,
    action text not null,
    until timestamptz not null,
    primary key (chat_id, person_id))`,
  `create table sandbox_callback (
    id bigint generated always as identity (start 4000000000) primary key,
    person_id bigint not null references sandbox_person,
    owner_id bigint not null references sandbox_person,
    data text not null,
    expires_at timestamptz not null,
    answer jsonb)`,
]

const devices = [
  `create table sandbox_challenge (
    id uuid primary key,
    person_id bigint not null references sandbox_person,
    code text not null,
    sent_at timestamptz not null default now(),
    expires_at timestamptz not null,
    wrong_answers integer not null default 0,
    state text not null default 'code')`,
  `create index sandbox_challenge_person on sandbox_challenge (person_id, sent_at)`,
  `create table sandbox_session (
    id bigint generated always as identity primary key,
    person_id bigint not null references sandbox_person,
    token_hash bytea not null unique,
    acknowledged bigint not null,
    ended text,
    created_at timestamptz not null default now())`,
  `create index sandbox_session_person on sandbox_session (person_id) where ended is null`,
  // Only the person's other devices need the events that a session caused itself.
  `create table sandbox_event (
    person_id bigint not null,
    seq bigint not null,
    kind text not null,
    actor_id bigint not null,
    caused_by bigint,
    at timestamptz not null default now(),
    detail jsonb not null,
    primary key (person_id, seq))`,
]

export class Sandbox extends Migration {
  override up(): void {
    for (const statement of [...people, ...chats, ...devices]) this.addSql(statement)
  }
}
