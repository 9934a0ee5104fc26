/** Drops the indexes of the logs that smaller ones replace. */
import { Migration } from '@mikro-orm/migrations'

export class LogIndexesReplaced extends Migration {
  override up(): void {
    this.addSql(`drop index request_log_user, request_log_user_error, request_log_key,
      request_log_credential, webhook_delivery_user, webhook_delivery_key, webhook_delivery_failed,
      webhook_delivery_update`)
  }
}
