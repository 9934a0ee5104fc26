/** Profiles of bots that clients set and no network keeps: commands, descriptions, the menu button. */
import { Migration } from '@mikro-orm/migrations'

export class BotProfile extends Migration {
  override up(): void {
    this.addSql(`create table bot_profile (
      credential_id bigint not null references credential on delete cascade,
      name text not null,
      value jsonb not null,
      primary key (credential_id, name))`)
  }
}
