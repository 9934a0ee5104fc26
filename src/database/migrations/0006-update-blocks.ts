/** Counts of whole blocks of updates, also by the key whose own calls caused them: it is not told of those. */
import { Migration } from '@mikro-orm/migrations'

export class UpdateBlocks extends Migration {
  override async up(): Promise<void> {
    // Nothing is lost: blocks are counted again when somebody asks.
    this.addSql('drop table update_block')
    this.addSql(`create table update_block (
      credential_id bigint not null,
      block bigint not null,
      kind smallint not null,
      api_key_id bigint not null,
      updates integer not null,
      primary key (credential_id, block, kind, api_key_id))`)
  }
}
