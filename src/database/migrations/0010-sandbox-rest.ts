/** The sandbox grows up: files, albums, reactions, polls, pins, rights, invite links and profiles. */
import { Migration } from '@mikro-orm/migrations'

const messages = [
  `alter table sandbox_message add album text, add is_protected boolean not null default false`,
  // The same bytes may have been sent as a photo and as a document.
  `create table sandbox_file (
    native text not null,
    kind text not null,
    media jsonb not null,
    primary key (native, kind))`,
  `create table sandbox_reaction (
    chat_id bigint not null,
    message_id bigint not null,
    person_id bigint not null references sandbox_person,
    reactions jsonb not null,
    at timestamptz not null default now(),
    primary key (chat_id, message_id, person_id))`,
  `create table sandbox_poll (
    id bigint generated always as identity (start 5000000000) primary key,
    owner_id bigint not null references sandbox_person,
    request_id text not null,
    poll jsonb not null,
    is_closed boolean not null default false,
    closes_at timestamptz,
    unique (owner_id, request_id))`,
  `create index sandbox_poll_due on sandbox_poll (closes_at) where not is_closed`,
  // Every message that carries a poll shows how it stands, forwards too.
  `create index sandbox_message_poll on sandbox_message ((content #>> '{poll,id}'))
    where content ->> 'kind' = 'poll'`,
  `create table sandbox_vote (
    poll_id bigint not null references sandbox_poll,
    person_id bigint not null references sandbox_person,
    options integer[] not null,
    primary key (poll_id, person_id))`,
  `create table sandbox_pin (
    chat_id bigint not null references sandbox_chat,
    message_id bigint not null,
    at timestamptz not null default now(),
    primary key (chat_id, message_id))`,
]

// Without permissions of its own a chat allows what its kind allows; an administrator without rights has all but one.
const chats = [
  `alter table sandbox_chat add permissions text[], add photo jsonb`,
  `alter table sandbox_member add rights text[], add title text,
    add is_anonymous boolean not null default false, add permissions text[], add until timestamptz`,
  `create table sandbox_invite (
    link text primary key,
    chat_id bigint not null references sandbox_chat,
    creator_id bigint not null references sandbox_person,
    name text,
    is_primary boolean not null default false,
    is_revoked boolean not null default false,
    needs_approval boolean not null default false,
    expires_at timestamptz,
    member_limit integer,
    joined integer not null default 0)`,
  `create index sandbox_invite_chat on sandbox_invite (chat_id)`,
  `create table sandbox_join_request (
    chat_id bigint not null references sandbox_chat,
    person_id bigint not null references sandbox_person,
    link text not null references sandbox_invite,
    at timestamptz not null default now(),
    primary key (chat_id, person_id))`,
]

const people = [
  `alter table sandbox_person add about text`,
  `create table sandbox_photo (
    id bigint generated always as identity primary key,
    person_id bigint not null references sandbox_person,
    photo jsonb not null)`,
  `create index sandbox_photo_person on sandbox_photo (person_id)`,
]

export class SandboxRest extends Migration {
  override up(): void {
    for (const statement of [...messages, ...chats, ...people]) this.addSql(statement)
  }
}
