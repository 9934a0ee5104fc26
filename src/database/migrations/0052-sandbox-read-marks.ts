/** The sandbox remembers how far each member of a chat has read. */
import { Migration } from '@mikro-orm/migrations'

export class SandboxReadMarks extends Migration {
  override up(): void {
    this.addSql(`alter table sandbox_member add read_up_to bigint not null default 0`)
    // Nobody was asked to read what is older than the marks.
    this.addSql(
      `update sandbox_member m set read_up_to = c.last_message
       from sandbox_chat c where c.id = m.chat_id`,
    )
  }
}
