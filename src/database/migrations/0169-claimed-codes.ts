/** A code is claimed while it is sent. Nodes of the version before send without a claim, as they did. */
import { Migration } from '@mikro-orm/migrations'

export class ClaimedCodes extends Migration {
  override up(): void {
    this.addSql('alter table otp_challenge add column sending_until timestamptz')
  }
}
