/** The sandbox learns paid media: the files that a message hides from readers who have not paid, and who has paid. */
import { Migration } from '@mikro-orm/migrations'

const statements = [
  `create table sandbox_paid_media (
    id bigint generated always as identity primary key,
    sender_id bigint not null references sandbox_person,
    seller_id bigint not null references sandbox_person,
    in_channel boolean not null,
    stars integer not null,
    payload text,
    media jsonb not null,
    at timestamptz not null default now())`,
  `create index sandbox_paid_media_sender on sandbox_paid_media (sender_id)`,
  `create index sandbox_paid_media_seller on sandbox_paid_media (seller_id)`,
  `alter table sandbox_payment add paid_media bigint references sandbox_paid_media`,
  `create unique index sandbox_payment_media on sandbox_payment (paid_media, person_id)
    where paid_media is not null and refunded_at is null`,
]

export class SandboxPaidMedia extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
