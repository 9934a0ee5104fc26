/** Finds the users who are suspended. By itself: after a change of the columns, everybody would wait while it is built. */
import { Migration } from '@mikro-orm/migrations'

export class SuspendedIndex extends Migration {
  override up(): void {
    // Each node reads all of them every few seconds.
    this.addSql('create index app_user_suspended on app_user (id) where suspended_at is not null')
  }
}
