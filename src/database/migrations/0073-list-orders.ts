/** Indexes for the orders, filters and counts of the list of accounts, and for the hours that are added up to days. */
import { Migration } from '@mikro-orm/migrations'

const live = 'where deleting_at is null and deactivated_at is null'

export class ListOrders extends Migration {
  override up(): void {
    // The included columns change together with the state, and the counts then read no rows.
    this.addSql(`create index credential_states on credential (user_id, state, id)
      include (platform, action, reason) ${live}`)
    this.addSql(`create index credential_urgency on credential (user_id,
      ((case action when 'none' then 0 when 'wait' then 1 else 2 end)::float8), id) ${live}`)
    this.addSql(`create index usage_total_not_a_day on usage_total (hour)
      where extract(hour from hour at time zone 'UTC') <> 0`)
  }
}
