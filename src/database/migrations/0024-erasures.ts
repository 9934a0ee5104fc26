/** The erasure of a user is a fact before it is carried out, so that one that was cut off goes on. */
import { Migration } from '@mikro-orm/migrations'

export class Erasures extends Migration {
  override async up(): Promise<void> {
    this.addSql('alter table app_user add column erasing_at timestamptz')
    this.addSql('create index app_user_erasing on app_user (id) where erasing_at is not null')
  }
}
