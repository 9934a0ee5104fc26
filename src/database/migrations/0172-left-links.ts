/** Finds the link flows whose session may still be signed in, and marks those that somebody signs out: no account can get them. */
import { Migration } from '@mikro-orm/migrations'

export class LeftLinks extends Migration {
  override up(): void {
    this.addSql('alter table link_session add column signing_out boolean not null default false')
    this.addSql(
      'create index link_session_left on link_session (expires_at) where stored is not null',
    )
  }
}
