/** Finds the link flows whose session may still be signed in, which each node looks for every half minute. */
import { Migration } from '@mikro-orm/migrations'

export class LeftLinks extends Migration {
  override up(): void {
    this.addSql(
      'create index link_session_left on link_session (expires_at) where stored is not null',
    )
  }
}
