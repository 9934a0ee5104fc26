/** The sandbox learns payments: links to invoices, and payments under way and made. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  `create table sandbox_invoice (
    slug text primary key,
    bot_id bigint not null references sandbox_person,
    invoice jsonb not null,
    at timestamptz not null default now())`,
  `create index sandbox_invoice_bot on sandbox_invoice (bot_id)`,
  `create table sandbox_payment (
    id bigint generated always as identity (start 6000000000) primary key,
    person_id bigint not null references sandbox_person,
    bot_id bigint not null references sandbox_person,
    chat_id bigint not null references sandbox_chat,
    invoice jsonb not null,
    details jsonb not null,
    step text not null,
    answer jsonb,
    asked_at timestamptz not null,
    paid_at timestamptz,
    refunded_at timestamptz,
    is_canceled boolean not null default false)`,
  `create index sandbox_payment_bot on sandbox_payment (bot_id, paid_at)`,
  `create index sandbox_payment_person on sandbox_payment (person_id)`,
]

export class SandboxPayments extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
