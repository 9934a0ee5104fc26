/** Files: what the store holds and for whom, what it costs each user, and the paths given out to clients. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  // "blob" is made of the content and its owner; "object" names one writing of it in the store.
  `create table media_blob (
    blob text primary key,
    user_id bigint not null references app_user,
    size bigint not null,
    mime text not null,
    object text not null unique,
    sealed_key bytea not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null)`,
  `create index media_blob_user on media_blob (user_id)`,
  `create index media_blob_expiry on media_blob (expires_at)`,
  `create table media_hold (
    blob text not null references media_blob,
    holder text not null,
    primary key (holder, blob))`,
  `create index media_hold_blob on media_hold (blob)`,
  `create table media_usage (
    user_id bigint primary key references app_user,
    bytes bigint not null default 0,
    files integer not null default 0) with (fillfactor = 50)`,
  // Written before the object is, deleted with the row that names it: what is left over is an orphan.
  `create table media_object (
    object text primary key,
    since timestamptz not null default now())`,
  `create table media_path (
    credential_id bigint not null references credential on delete cascade,
    number integer not null,
    path text not null,
    source text not null,
    file jsonb not null,
    expires_at timestamptz not null,
    primary key (credential_id, path),
    unique (credential_id, source))`,
  `create index media_path_expiry on media_path (expires_at)`,
  `create table media_path_count (
    credential_id bigint primary key references credential on delete cascade,
    issued integer not null) with (fillfactor = 50)`,
]

export class Media extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
