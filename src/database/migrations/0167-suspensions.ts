/** Users whom an operator has suspended, and why. Nodes of the version before do not look at it. */
import { Migration } from '@mikro-orm/migrations'

export class Suspensions extends Migration {
  override up(): void {
    this.addSql(
      'alter table app_user add column suspended_at timestamptz, add column suspended_reason text',
    )
  }
}
