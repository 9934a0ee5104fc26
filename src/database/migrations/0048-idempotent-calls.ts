/** Answers to calls with an Idempotency-Key, kept for a day so that the same key gets the same answer. */
import { Migration } from '@mikro-orm/migrations'

export class IdempotentCalls extends Migration {
  override async up(): Promise<void> {
    this.addSql(`
      create table idempotent_call (
        api_key_id bigint not null references api_key (id) on delete cascade,
        key text not null,
        begun_at timestamptz not null default now(),
        result text,
        failure jsonb,
        primary key (api_key_id, key)
      )`)
    this.addSql('create index idempotent_call_begun_at on idempotent_call (begun_at)')
  }
}
