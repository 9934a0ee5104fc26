/** Users, how they sign in, and the keys under which secrets are stored. */
import { Migration } from '@mikro-orm/migrations'

const tables = [
  // Each owner has one key in use; older ones stay as long as something is sealed with them.
  `create table data_key (
    id uuid primary key,
    owner text not null,
    kek text not null,
    wrapped bytea not null,
    seals bigint not null default 0,
    created_at timestamptz not null default now(),
    retired_at timestamptz
  )`,
  `create unique index data_key_in_use on data_key (owner) where retired_at is null`,
  `create index data_key_owner on data_key (owner)`,

  // The index is a keyed hash of the number: the table alone does not tell whose account it is.
  `create table app_user (
    id bigserial primary key,
    phone_index bytea not null unique,
    phone_sealed bytea not null,
    created_at timestamptz not null default now()
  )`,

  // One code at a time for a phone and purpose: a new one overwrites the old.
  `create table otp_challenge (
    phone_index bytea not null,
    purpose text not null,
    id text not null unique,
    code_mac bytea not null,
    message_sealed bytea,
    tries int not null default 0,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (phone_index, purpose)
  )`,
  `create index otp_challenge_expiry on otp_challenge (expires_at)`,
  // Wrong codes in a row, over all codes of a phone.
  `create table otp_failures (
    phone_index bytea primary key,
    failures int not null,
    locked_until timestamptz,
    failed_at timestamptz not null
  )`,
  // When a limited thing was done, newest last; never longer than the limit.
  `create table quota (
    key text primary key,
    uses timestamptz[] not null,
    used_at timestamptz not null
  )`,
  `create index quota_use on quota (used_at)`,

  `create table user_session (
    id bigserial primary key,
    user_id bigint not null references app_user on delete cascade,
    ip text,
    user_agent text,
    created_at timestamptz not null,
    last_used_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz
  )`,
  `create index user_session_user on user_session (user_id, id)`,
  `create index user_session_expiry on user_session (expires_at)`,
  // Used tokens stay until the session is gone: that is how a second use is noticed.
  `create table refresh_token (
    hash bytea primary key,
    session_id bigint not null references user_session on delete cascade,
    created_at timestamptz not null,
    used_at timestamptz
  )`,
  `create index refresh_token_session on refresh_token (session_id)`,

  `create table personal_token (
    id bigserial primary key,
    user_id bigint not null references app_user on delete cascade,
    name text not null,
    hash bytea not null unique,
    hint text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    last_used_at timestamptz
  )`,
  `create index personal_token_user on personal_token (user_id, id)`,

  // Published from creation to \`expires_at\`, signing from \`signs_from\` until a newer one does.
  `create table signing_key (
    kid text primary key,
    public_jwk jsonb not null,
    private_sealed bytea not null,
    created_at timestamptz not null,
    signs_from timestamptz not null,
    expires_at timestamptz
  )`,
]

export class Accounts extends Migration {
  override up(): void {
    for (const statement of tables) this.addSql(statement)
  }

  override down(): void {
    const names = ['signing_key', 'personal_token', 'refresh_token', 'user_session', 'quota']
    const rest = ['otp_failures', 'otp_challenge', 'app_user', 'data_key']
    for (const table of [...names, ...rest]) this.addSql(`drop table ${table}`)
  }
}
