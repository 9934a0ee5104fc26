/** One action on many accounts: what was ordered, and how far it is with each of them. */
import { Migration } from '@mikro-orm/migrations'

export class BulkActions extends Migration {
  override up(): void {
    this.addSql(`
      create table bulk_action (
        id bigint generated always as identity primary key,
        user_id bigint not null,
        kind text not null,
        filter jsonb,
        state text not null default 'running',
        total int not null,
        done int not null default 0,
        failed int not null default 0,
        created_at timestamptz not null default now(),
        ended_at timestamptz
      )`)
    this.addSql('create index bulk_action_user on bulk_action (user_id, id)')
    this.addSql(`create index bulk_action_running on bulk_action (id) where state = 'running'`)
    this.addSql(
      'create index bulk_action_ended on bulk_action (ended_at) where ended_at is not null',
    )
    this.addSql(`
      create table bulk_item (
        action_id bigint not null references bulk_action on delete cascade,
        position int not null,
        credential_id bigint not null,
        state text not null default 'waiting',
        code text,
        ended_at timestamptz,
        primary key (action_id, position)
      )`)
    this.addSql(`create index bulk_item_waiting on bulk_item (action_id, position)
      where state = 'waiting'`)
    this.addSql(`create index bulk_item_failed on bulk_item (action_id, position)
      where state = 'failed'`)
  }
}
