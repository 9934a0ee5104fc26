/** Tries of a notification by chat that may be one message share a call. Nodes of the version before count attempts, as they did. */
import { Migration } from '@mikro-orm/migrations'

export class NotificationCalls extends Migration {
  override up(): void {
    this.addSql('alter table alert_notification add column call integer not null default 1')
    this.addSql('update alert_notification set call = attempts + 1 where attempts > 0')
  }
}
