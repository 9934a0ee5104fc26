/** Stories of the sandbox, requests to come in without a link, the link that each member came by, and reactions. */
import { Migration } from '@mikro-orm/migrations'

const stories = [
  `alter table sandbox_person add stories integer not null default 0`,
  `create table sandbox_story (
    person_id bigint not null references sandbox_person,
    id integer not null,
    request_id text not null,
    media jsonb not null,
    caption jsonb not null,
    at timestamptz not null,
    expires_at timestamptz not null,
    is_kept boolean not null,
    is_protected boolean not null,
    primary key (person_id, id),
    unique (person_id, request_id))`,
]

// A link lets in so many at a time: whoever left again does not count, which a counter could not tell.
const joins = [
  `alter table sandbox_chat add join_by_request boolean not null default false`,
  `alter table sandbox_join_request alter link drop not null`,
  `alter table sandbox_member add link text references sandbox_invite`,
  `create index sandbox_member_link on sandbox_member (link) where link is not null`,
  `alter table sandbox_invite drop joined`,
]

/** Reactions went with the right to write, before they had a right of their own. */
const reactions = ['sandbox_chat', 'sandbox_member'].map(
  (table) => `update ${table} set permissions = permissions || '{react_to_messages}'
    where 'send_messages' = any(permissions)`,
)

export class Stories extends Migration {
  override up(): void {
    for (const statement of [...stories, ...joins, ...reactions]) this.addSql(statement)
  }
}
