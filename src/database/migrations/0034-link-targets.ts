/** The target of a link flow as a keyed hash: a code that is sent again counts as the first one did. */
import { Migration } from '@mikro-orm/migrations'

export class LinkTargets extends Migration {
  override async up(): Promise<void> {
    this.addSql('alter table link_session add column target text')
  }
}
