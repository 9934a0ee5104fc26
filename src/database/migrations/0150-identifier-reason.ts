/** The reason of failed items has a wider name: bots and XMPP accounts are linked by other identifiers than a phone. */
import { Migration } from '@mikro-orm/migrations'

export class IdentifierReason extends Migration {
  override up(): void {
    // By the index of failed items, of which there are few.
    this.addSql(`update bulk_item set code = 'unknown_identifier'
      where state = 'failed' and code = 'no_phone'`)
  }
}
