/** The day on which a message got its number: those of old messages are forgotten. */
import { Migration } from '@mikro-orm/migrations'

export class MessageDays extends Migration {
  override up(): void {
    // The default is computed once for the rows there are, so the table is not written again: they count from today.
    this.addSql(
      'alter table message_identity add column given_on date not null default current_date',
    )
  }
}
