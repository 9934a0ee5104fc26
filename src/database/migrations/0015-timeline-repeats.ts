/** A loop of reconnects is one incident: its lines are counted instead of written again. */
import { Migration } from '@mikro-orm/migrations'

export class TimelineRepeats extends Migration {
  override async up(): Promise<void> {
    this.addSql(`alter table credential_transition
      add column count integer not null default 1,
      add column last_at timestamptz`)
  }

  override async down(): Promise<void> {
    this.addSql('alter table credential_transition drop column count, drop column last_at')
  }
}
