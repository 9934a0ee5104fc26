/** The sandbox finds the subscriptions whose time is over. */
import { Migration } from '@mikro-orm/migrations'

export class SandboxRenewals extends Migration {
  override up(): void {
    this.addSql(
      `create index sandbox_member_subscribed on sandbox_member (subscribed_until)
       where subscribed_until is not null`,
    )
  }
}
