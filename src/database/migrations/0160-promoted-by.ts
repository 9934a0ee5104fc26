/** Who made a person of the sandbox an administrator: only they and the owner may change that again. */
import { Migration } from '@mikro-orm/migrations'

export class PromotedBy extends Migration {
  override up(): void {
    this.addSql('alter table sandbox_member add column promoted_by bigint')
  }
}
