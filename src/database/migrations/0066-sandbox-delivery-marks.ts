/** The sandbox remembers which messages of a private chat have reached a device of its person. */
import { Migration } from '@mikro-orm/migrations'

export class SandboxDeliveryMarks extends Migration {
  override up(): void {
    this.addSql(`alter table sandbox_member add delivered_up_to bigint not null default 0`)
    this.addSql(`update sandbox_member set delivered_up_to = read_up_to`)
  }
}
