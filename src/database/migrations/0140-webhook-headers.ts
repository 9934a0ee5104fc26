/** The names of the headers that an owner adds to deliveries, for lists; their values are in the sealed part. */
import { Migration } from '@mikro-orm/migrations'

export class WebhookHeaders extends Migration {
  override up(): void {
    this.addSql(`alter table webhook add column header_names text[] not null default '{}'`)
    this.addSql(`comment on column webhook.sealed is
      'url, secret token, certificate and headers; null once the receiver turned the webhook off'`)
  }
}
