/** The usage of a user as a whole, hour by hour, and what finds the hours that are to become days. */
import { Migration } from '@mikro-orm/migrations'

export class UsageTotals extends Migration {
  override up(): void {
    // What all accounts and keys of a user did is asked for most, and would read a row for each of them and each hour.
    this.addSql(`
      create table usage_total (
        user_id bigint not null,
        hour timestamptz(0) not null,
        measure text not null,
        label text not null,
        amount bigint not null,
        primary key (user_id, hour, measure, label)
      )`)
    this.addSql(`
      insert into usage_total (user_id, hour, measure, label, amount)
      select user_id, hour, measure, label, sum(amount) from usage_hour group by 1, 2, 3, 4`)
    this.addSql(`create index usage_hour_not_a_day on usage_hour (hour)
      where extract(hour from hour at time zone 'UTC') <> 0`)
    this.addSql('create index usage_total_age on usage_total using brin (hour)')
    this.addSql(
      `comment on table usage_hour is 'credential_id and api_key_id are 0 where there is none; old hours are added up to days'`,
    )
  }
}
