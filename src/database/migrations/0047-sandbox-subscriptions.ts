/** The sandbox learns invite links into channels that are paid for by the month. */
import { Migration } from '@mikro-orm/migrations'

export class SandboxSubscriptions extends Migration {
  override up(): void {
    this.addSql(
      `alter table sandbox_invite
         add subscription_seconds integer,
         add subscription_stars integer`,
    )
    this.addSql('alter table sandbox_member add subscribed_until timestamptz')
  }
}
