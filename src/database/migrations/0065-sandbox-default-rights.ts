/** People of the sandbox ask for rights as administrators, by the kind of chat. */
import { Migration } from '@mikro-orm/migrations'

export class SandboxDefaultRights extends Migration {
  override up(): void {
    this.addSql('alter table sandbox_person add group_rights jsonb, add channel_rights jsonb')
  }
}
