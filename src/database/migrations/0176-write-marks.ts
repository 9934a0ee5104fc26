/** How far the buffered rows of each process are stored, so that a write that is repeated stores none of them twice. */
import { Migration } from '@mikro-orm/migrations'

export class WriteMarks extends Migration {
  override up(): void {
    this.addSql(`
      create table write_mark (
        writer uuid primary key,
        stored bigint not null,
        before bigint not null default 0,
        at timestamptz not null default now()
      )`)
  }
}
