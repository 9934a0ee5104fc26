/** The sandbox knows which drafts their reader may stop, and which are stopped. */
import { Migration } from '@mikro-orm/migrations'

export class SandboxStoppedDrafts extends Migration {
  override up(): void {
    this.addSql(
      `alter table sandbox_draft
         add can_stop boolean not null default false,
         add keep_on_stop boolean not null default false,
         add is_stopped boolean not null default false`,
    )
  }
}
