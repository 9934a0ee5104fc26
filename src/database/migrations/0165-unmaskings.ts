/** Who of the staff sees texts and phones of a user, and until when. */
import { Migration } from '@mikro-orm/migrations'

export class Unmaskings extends Migration {
  override up(): void {
    this.addSql(`
      create table unmasking (
        id bigint generated always as identity primary key,
        staff_id bigint not null references app_user on delete cascade,
        user_id bigint not null references app_user on delete cascade,
        until timestamptz not null
      )`)
    this.addSql('create index unmasking_of_staff on unmasking (staff_id, user_id, until)')
    this.addSql('create index unmasking_of_user on unmasking (user_id)')
  }
}
