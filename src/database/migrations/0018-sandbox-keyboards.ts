/** The sandbox learns keyboards that a message puts in the place of its readers' ordinary one. */
import { Migration } from '@mikro-orm/migrations'

export class SandboxKeyboards extends Migration {
  override up(): void {
    this.addSql(`alter table sandbox_message add keyboard jsonb`)
    // The newest of a chat is looked for, and most messages bring none.
    this.addSql(
      `create index sandbox_message_keyboard on sandbox_message (chat_id, id)
       where keyboard is not null`,
    )
  }
}
