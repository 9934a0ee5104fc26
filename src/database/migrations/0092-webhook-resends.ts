/** What the owner of a webhook has ordered to be sent again, beside the webhook itself. */
import { Migration } from '@mikro-orm/migrations'

export class WebhookResends extends Migration {
  override up(): void {
    this.addSql('alter table webhook add column resend jsonb')
  }
}
