/** A row for each start of a process: who serves this database, and whether it is still there. */
import { Migration } from '@mikro-orm/migrations'

export class Nodes extends Migration {
  override up(): void {
    // The id is the incarnation: two processes of one name are two nodes.
    this.addSql(
      `create table node (
         id serial primary key,
         name text not null,
         address text,
         version text not null,
         schema text not null,
         weight integer not null default 1 check (weight > 0),
         state text not null default 'joining'
           check (state in ('joining', 'up', 'draining', 'left', 'gone')),
         beats bigint not null default 0,
         started_at timestamptz not null default now(),
         ended_at timestamptz,
         check ((ended_at is not null) = (state in ('left', 'gone'))))`,
    )
    // Each node writes its row four times a second: room for that within the page.
    this.addSql('alter table node set (fillfactor = 50)')
    this.addSql(`create index node_ended on node (ended_at) where ended_at is not null`)
  }
}
