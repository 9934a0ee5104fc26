/** The sandbox keeps account of Stars that moved without an invoice: for gifts, premium, and from a business. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  `create table sandbox_star_entry (
    id text primary key,
    person_id bigint not null references sandbox_person,
    at timestamptz not null,
    amount bigint not null,
    is_incoming boolean not null,
    -- Whom they came from or went to: a person or a channel.
    partner_id bigint references sandbox_person,
    chat_id bigint references sandbox_chat,
    purpose text not null,
    details jsonb not null)`,
  'create index sandbox_star_entry_person on sandbox_star_entry (person_id, at)',
]

export class SandboxStarEntries extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
