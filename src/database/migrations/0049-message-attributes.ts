/** Attributes that few messages of the sandbox have: a quote, an answer to a message of another chat. */
import { Migration } from '@mikro-orm/migrations'

export class MessageAttributes extends Migration {
  override async up(): Promise<void> {
    this.addSql('alter table sandbox_message add column attributes jsonb')
  }
}
