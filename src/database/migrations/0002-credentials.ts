/** Credentials with their timeline, API keys, the update log, and the integers given to native ids. */
import { Migration } from '@mikro-orm/migrations'

const PARTITIONS = 8

export class Credentials extends Migration {
  override async up(): Promise<void> {
    this.addSql(`create table credential (
      id bigserial primary key,
      user_id bigint not null references app_user,
      platform text not null,
      native_id text not null,
      account jsonb not null,
      secrets bytea,
      machine_state text not null default 'resuming',
      state text not null default 'connecting',
      reason text,
      action text not null default 'none',
      limited_until timestamptz,
      include_self_updates boolean not null default false,
      include_channel_updates boolean not null default false,
      include_channel_update_recovery boolean not null default false,
      include_deleted_updates boolean not null default false,
      healthy boolean,
      checked_at timestamptz,
      last_event_at timestamptz,
      latency_ms integer,
      online_since timestamptz,
      node text,
      created_at timestamptz not null default now(),
      deactivated_at timestamptz)`)
    this.addSql(`create unique index credential_account on credential (platform, native_id, user_id)
      where deactivated_at is null`)
    this.addSql(`create index credential_user on credential (user_id, id desc)`)

    this.addSql(`create table credential_transition (
      id bigserial primary key,
      credential_id bigint not null references credential on delete cascade,
      at timestamptz not null,
      from_state text not null,
      to_state text not null,
      event text not null,
      reason text,
      actor text not null,
      node text not null,
      duration_ms bigint not null)`)
    this.addSql(`create index credential_transition_timeline
      on credential_transition (credential_id, id desc)`)

    this.addSql(`create table credential_log (
      credential_id bigint primary key references credential on delete cascade,
      epoch bigint not null default 0,
      next_update_id bigint not null,
      checkpoint jsonb) with (fillfactor = 50)`)
    // By hash of the credential: the source key must be unique over all time, which no partition by day can check.
    this.addSql(`create table update_log (
      credential_id bigint not null,
      update_id bigint not null,
      source_key text not null,
      kind smallint not null,
      chat_id bigint,
      api_key_id bigint,
      trace_id text,
      at timestamptz not null default now(),
      payload text not null,
      primary key (credential_id, update_id),
      constraint update_log_source unique (credential_id, source_key)
    ) partition by hash (credential_id)`)
    for (let rest = 0; rest < PARTITIONS; rest++) {
      this.addSql(`create table update_log_${rest} partition of update_log
        for values with (modulus ${PARTITIONS}, remainder ${rest})`)
    }
    this.addSql(`create table update_block (
      credential_id bigint not null,
      block bigint not null,
      kind smallint not null,
      updates integer not null,
      primary key (credential_id, block, kind))`)

    this.addSql(`create sequence api_key_number start with 100000`)
    this.addSql(`create table api_key (
      id bigint primary key default nextval('api_key_number'),
      user_id bigint not null references app_user,
      credential_id bigint not null references credential on delete cascade,
      name text not null,
      scopes text[] not null,
      secret_hash bytea not null,
      key_hint text not null,
      old_secret_hash bytea,
      old_secret_until timestamptz,
      cursor bigint not null,
      filter jsonb not null default '[]',
      polled boolean not null default false,
      dropped_updates bigint not null default 0,
      dropped_at timestamptz,
      last_used_at timestamptz,
      created_at timestamptz not null default now(),
      expires_at timestamptz,
      revoked_at timestamptz) with (fillfactor = 80)`)
    this.addSql(`create index api_key_user on api_key (user_id, id desc)`)
    this.addSql(`create index api_key_credential on api_key (credential_id)`)

    this.addSql(`create sequence chat_number start with 1000`)
    this.addSql(`create table chat_identity (
      credential_id bigint not null,
      native text not null,
      chat_id bigint not null,
      primary key (credential_id, native),
      constraint chat_identity_public unique (credential_id, chat_id))`)
    this.addSql(`create table message_identity (
      credential_id bigint not null,
      chat_id bigint not null,
      message_id integer not null,
      native text not null,
      own boolean not null,
      primary key (credential_id, chat_id, message_id),
      constraint message_identity_native unique (credential_id, native, chat_id))`)
  }
}
