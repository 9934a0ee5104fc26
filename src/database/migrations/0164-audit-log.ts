/** The audit log: who changed what, from where. Rows are only added; they end with their user, or after 400 days. */
import { Migration } from '@mikro-orm/migrations'

export class AuditLog extends Migration {
  override up(): void {
    // Without a user: a change of the service itself, by an operator. Nodes of the version before erase users, too. An author
    // who is erased leaves the lines of others as they are, without a name.
    this.addSql(`create table audit_log (
      id bigserial primary key,
      user_id bigint references app_user on delete cascade,
      at timestamptz not null default now(),
      action text not null,
      via text not null,
      author_id bigint references app_user on delete set null,
      session_id bigint,
      token_id bigint,
      ip text,
      request_id text,
      target text,
      target_id text,
      before jsonb,
      after jsonb)`)
    this.addSql('create index audit_log_of_user on audit_log (user_id, id)')
    this.addSql('create index audit_log_of_author on audit_log (author_id)')
    this.addSql(`create function audit_log_stays() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' then
          if old.at < now() - interval '400 days'
            or old.user_id is not null and not exists (
              select from app_user where id = old.user_id and erasing_at is null)
          then return old; end if;
        elsif tg_op = 'UPDATE' then
          if new.author_id is null and not exists (select from app_user where id = old.author_id)
            and to_jsonb(new) - 'author_id' = to_jsonb(old) - 'author_id'
          then return new; end if;
        end if;
        raise exception 'rows of the audit log are only added' using errcode = 'insufficient_privilege';
      end $$`)
    this.addSql(`create trigger audit_log_stays before update or delete on audit_log
      for each row execute function audit_log_stays()`)
    this.addSql(`create trigger audit_log_stays_whole before truncate on audit_log
      for each statement execute function audit_log_stays()`)
  }
}
