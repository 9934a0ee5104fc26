/** Whose alone an incident of the service has been since it began: an operator has the same one as their own. */
import { Migration } from '@mikro-orm/migrations'

export class IncidentsOfOne extends Migration {
  override up(): void {
    this.addSql(
      'alter table incident add column sole_user_id bigint references app_user on delete set null',
    )
  }
}
