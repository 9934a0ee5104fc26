/** How many seconds an ordinary member of a supergroup of the sandbox waits between two messages. */
import { Migration } from '@mikro-orm/migrations'

export class SlowMode extends Migration {
  override up(): void {
    this.addSql('alter table sandbox_chat add column slow_mode integer not null default 0')
  }
}
