/** The sandbox learns keys that a bot keeps for a person, who uses them within a web app. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  `create table sandbox_prepared_key (
    id text primary key,
    person_id bigint not null references sandbox_person,
    bot_id bigint not null references sandbox_person,
    key jsonb not null,
    expires_at timestamptz not null)`,
  `create index sandbox_prepared_key_person on sandbox_prepared_key (person_id)`,
]

export class SandboxPreparedKeys extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
