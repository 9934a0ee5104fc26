/** How long a bot may be behind before it makes an incident, as its user chooses. */
import { Migration } from '@mikro-orm/migrations'

export class BacklogMinutes extends Migration {
  override up(): void {
    this.addSql('alter table alert_setting add column backlog_minutes int not null default 15')
  }
}
