/** Diagnoses: what each step found, so that one begun goes on after a restart. */
import { Migration } from '@mikro-orm/migrations'

export class Diagnoses extends Migration {
  override async up(): Promise<void> {
    this.addSql(`create table diagnosis (
      id text primary key,
      user_id bigint not null references app_user,
      api_key_id bigint not null references api_key on delete cascade,
      credential_id bigint not null references credential on delete cascade,
      send_to text,
      opens boolean,
      findings jsonb not null default '[]',
      created_at timestamptz not null default now())`)
    this.addSql('create index diagnosis_age on diagnosis (created_at)')
  }

  override async down(): Promise<void> {
    this.addSql('drop table diagnosis')
  }
}
