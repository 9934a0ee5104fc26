/** Indexes for the filters of the request log and the delivery log, so that a page costs the same whatever is in them. */

import { Migration } from '@mikro-orm/migrations'

const statements = [
  // Without it, a page of a quiet account reads all requests of its user.
  `create index request_log_credential on request_log (credential_id, at desc, id desc)
    where credential_id is not null`,
  `create index webhook_delivery_failed on webhook_delivery (user_id, at desc, id desc)
    where error is not null`,
  // In the order of the list: every account counts its updates from one, so many attempts can share an id.
  `create index webhook_delivery_update
    on webhook_delivery (user_id, update_id, at desc, id desc)`,
]

export class LogFilters extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
