/** Who of the staff saw texts and phones of a user, until when, and for which reason. */
import { Migration } from '@mikro-orm/migrations'

export class Unmaskings extends Migration {
  override up(): void {
    this.addSql(`
      create table unmasking (
        id bigint generated always as identity primary key,
        staff_id bigint not null references app_user on delete cascade,
        user_id bigint not null references app_user on delete cascade,
        reason text not null,
        at timestamptz not null,
        until timestamptz not null
      )`)
    this.addSql('create index unmasking_of_staff on unmasking (staff_id, user_id, until)')
    this.addSql('create index unmasking_of_user on unmasking (user_id)')
  }
}
