/** Why a request failed, as a code with its values: a diagnosis reads these, and never the description. */
import { Migration } from '@mikro-orm/migrations'

export class RequestReasons extends Migration {
  override async up(): Promise<void> {
    this.addSql('alter table request_log add column reason text, add column params jsonb')
  }
}
