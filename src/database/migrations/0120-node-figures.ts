/** What each node says of itself beside its beats, and where an account was before: both are shown to operators. */
import { Migration } from '@mikro-orm/migrations'

export class NodeFigures extends Migration {
  override up(): void {
    this.addSql('alter table node add column figures jsonb')
    this.addSql('alter table credential add column left_node text')
    this.addSql('alter table credential_transition add column other_node text')
  }
}
